"""How well Onrecord finds the right memory, how often it is rightly silent, and how fast it is."""
