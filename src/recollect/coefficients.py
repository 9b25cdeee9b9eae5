"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.

Fitted 2026-11-15 on eslint, harbor, harbor-, lumen, lumen-, peps, ruff, runbooks (a dash: without triggers).
Left out one at a time, mean over the sets of other people: ndcg@10 0.746, auc 0.867, precision 0.683, served 0.397, false_near 0.166, false_off 0.010.
"""

from __future__ import annotations

THRESHOLD = 0.5
FIRST_PROMPT_THRESHOLD = 0.4

RANK = (
    -3.15448,  # coverage
    3.27635,  # window
    1.34176,  # window_title
    1.48796,  # matches
    2.16616,  # title_asked
    0.47402,  # in_title
    1.63210,  # title_both
    2.09247,  # in_tags
    1.37369,  # adjacent
    0.81208,  # rarest
    -0.06506,  # bm25_title
    2.43018,  # bm25_body
    -0.00000,  # length
    0.94100,  # early
    1.38514,  # mass
    0.83881,  # window_mass
    0.01925,  # title_mass
    3.00773,  # trigger_asked
    3.83552,  # in_trigger
    0.76686,  # title_concepts
)
RANK_MEAN = 5.58686

GATE = (
    -0.71850,  # coverage
    0.03396,  # window
    -0.70166,  # window_title
    1.18260,  # matches
    -0.52008,  # title_asked
    -2.10896,  # in_title
    2.46774,  # title_both
    -0.29567,  # in_tags
    0.08324,  # adjacent
    0.80236,  # rarest
    0.51624,  # bm25_title
    0.59229,  # bm25_body
    -1.01989,  # length
    0.66976,  # early
    0.26597,  # mass
    0.70624,  # window_mass
    -0.13733,  # title_mass
    1.76192,  # trigger_asked
    -0.75310,  # in_trigger
    1.09933,  # title_concepts
    2.48038,  # share
    0.30898,  # log_share
    0.12494,  # score
    -0.05829,  # lead
)
GATE_BASE = -4.60647
