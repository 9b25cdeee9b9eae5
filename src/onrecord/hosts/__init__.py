"""The coding agents that Onrecord works in: their events, replies and sessions, and how they are connected."""
