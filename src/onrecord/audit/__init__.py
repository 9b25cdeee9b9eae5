"""Duplicates, outdated records and secrets in a store."""
