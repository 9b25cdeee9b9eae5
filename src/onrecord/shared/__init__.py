"""A team's shared stores: where each is, its local replica, and how the two are kept the same."""
