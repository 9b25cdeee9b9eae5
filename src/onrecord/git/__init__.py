"""Runs git safely in repositories that may be hostile."""
