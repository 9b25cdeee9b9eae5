"""A hub: a Postgres database that holds the shared stores of one or more teams. Needs the extra `onrecord[hub]`."""
