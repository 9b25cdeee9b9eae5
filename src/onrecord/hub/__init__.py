"""A hub: a Postgres database that holds the shared stores of one or more teams. Needs the extra `hub`."""

from onrecord import extras

extras.add_to_path()
