"""Whether an installation works, and what it leaves behind."""
