"""Triage of sessions, suggestions to save, and the review of drafts."""
