"""Audit of a store: duplicates, outdated records, secrets, and records that are hard to find."""
