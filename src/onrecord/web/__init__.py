"""The memory in a browser: a page for the person who owns it, served on this machine only. Needs the extra `web`."""

from onrecord import extras

extras.add_to_path()
