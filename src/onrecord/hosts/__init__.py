"""The coding agents that Onrecord works in: for each, how its events are read and answered."""
