"""A conversation with an agent: what was said in it, and what it was shown."""
