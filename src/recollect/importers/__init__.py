"""Imports: what a project has written down elsewhere, as records. Each importer goes from text to records, purely.

Texts are other people's: no text makes an importer raise, and none makes it slow without bound.
"""
