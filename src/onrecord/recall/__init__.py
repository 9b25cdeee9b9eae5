"""Recall: the records that an agent is shown for a prompt, for a file, after a failed command."""
