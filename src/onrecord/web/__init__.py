"""The project memory in a browser: pages for the user, served on this machine only. Needs the extra `web`."""

from onrecord import extras

extras.add_to_path()
