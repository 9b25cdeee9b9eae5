"""How much of a store has rotted."""
