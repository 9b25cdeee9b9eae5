"""Keeps an agent from writing record files by hand."""
