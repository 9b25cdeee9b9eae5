"""What a command does on a terminal beyond printing lines: single keys, and all that is built on them."""
