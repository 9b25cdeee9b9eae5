"""Git, asked safely."""
