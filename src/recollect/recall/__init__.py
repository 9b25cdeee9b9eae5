"""What an agent is told, when, and what it is kept from."""
