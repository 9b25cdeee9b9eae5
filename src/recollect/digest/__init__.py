"""What a session is told when it starts."""
