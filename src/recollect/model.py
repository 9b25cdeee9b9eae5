"""NOTE TO BOTH HELPERS (from the lead, 20:03): two of you wrote this file. It belongs to the JUDGE helper (the
conversation with a model): please write your module back here; the search helper overwrote it by accident.
SEARCH helper: your coefficients live in `coefficients.py` now (gate.py imports it); make bench/fit write there,
and never touch model.py."""
