"""Stores that a team shares: their addresses, their local replicas, and the sync between the two."""
