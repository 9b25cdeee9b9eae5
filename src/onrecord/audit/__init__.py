"""Duplicates, contradictions, outdated records and secrets in a store."""
