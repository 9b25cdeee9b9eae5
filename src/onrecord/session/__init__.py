"""A session with an agent: its transcript, and a ledger of the records it was shown."""
