"""Weights for answers to past questions. Written by `python -m bench past --fit`: do not edit."""

from __future__ import annotations

ENGLISH = (0.695, 0.374, 0.226)
OTHERS = (0.716, 0.071, 0.002)
"""Probabilities by language: of a rule, of a pointer, and below which nothing is on file."""

BASE = -4.77770
WEIGHTS = {
    "title_both": 8.78086,
    "in_tags": 2.00646,
    "trigger_asked": 1.95712,
    "mass": 1.06708,
    "length": 0.39845,
    "title_meaning": 2.12814,
    "trigger_meaning": -0.32809,
    "meaning_z": 0.81182,
    "soft_coverage": 2.34401,
    "soft_lead": 2.51374,
    "apart": -0.82534,
    "unknown": 0.24032,
    "window_title": -0.86467,
    "vector_share": -0.87214,
    "store": -0.56080,
}

WORDS_BASE = -2.48728
WORDS_WEIGHTS = {
    "title_both": 16.42485,
    "in_tags": 2.13218,
    "trigger_asked": 2.08555,
    "mass": 3.47542,
    "length": -1.51455,
    "apart": -1.08760,
    "unknown": 0.68416,
    "window_title": 0.13187,
    "store": -0.22524,
}
