"""A record: its fields and checks, its file, drafts, changes over time, merging, export, and secrets in it."""
