"""Anchors link records to files, and checks show which of these files have changed since."""
