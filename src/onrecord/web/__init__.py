"""The memory in a browser: a page for the person who owns it, served on this machine only."""
