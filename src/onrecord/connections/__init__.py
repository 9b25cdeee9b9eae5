"""What connects Onrecord with a coding agent: entries in its config files, files of our own beside them, skills."""
