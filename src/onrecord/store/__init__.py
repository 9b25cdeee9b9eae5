"""The files on disk, and changes made to them in whole steps."""
