"""A session with an agent: its transcript, and the ledger of what it was shown."""
