"""Weights for how well a record answers a search. Written by `python -m bench searches`: do not edit."""

from __future__ import annotations

FLOOR = 0.01
KEYWORD_ASKED = 0.05
FITS = 0.05
FITS_LONG = 0.015

BASE = -2.13523
WEIGHTS = {
    "coverage": -0.54630,
    "title_asked": 0.58584,
    "in_title": -0.49068,
    "title_both": 8.60898,
    "in_tags": 0.58579,
    "adjacent": 1.47109,
    "trigger_asked": 1.22051,
    "in_trigger": 0.09279,
    "matches": -0.32915,
    "length": -0.43284,
    "mass": 1.97769,
    "store": 0.00067,
    "meaning": -0.74050,
    "title_meaning": 0.96054,
    "trigger_meaning": 0.27391,
    "meaning_lead": 4.26978,
    "meaning_z": 0.28241,
    "soft_coverage": 0.31914,
    "soft_lead": 0.94388,
    "vector_share": -0.52680,
}

WORDS_BASE = -2.30405
WORDS_WEIGHTS = {
    "coverage": 1.41932,
    "title_asked": 2.56528,
    "in_title": 0.00648,
    "title_both": 9.07286,
    "in_tags": 0.88113,
    "adjacent": 1.58091,
    "trigger_asked": 1.76611,
    "in_trigger": 0.15533,
    "matches": -2.30690,
    "length": -0.37934,
    "mass": 4.12063,
    "store": -0.21804,
}
