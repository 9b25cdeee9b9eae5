"""What of a session is worth keeping, and the consent to keep it."""
