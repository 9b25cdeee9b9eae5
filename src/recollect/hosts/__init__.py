"""The coding agents that Recollect works in: for each, how its events are read and answered."""
