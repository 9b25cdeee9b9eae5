"""The digest: the records that a session is shown when it starts."""
