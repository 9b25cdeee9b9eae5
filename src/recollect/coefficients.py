"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.

Fitted 2026-11-15 on eslint, harbor, harbor-, lumen, lumen-, peps, ruff, runbooks (a dash: without triggers).
Each left out in turn, at the threshold, mean over the sets of other people:

    ndcg@10 0.747
    auc 0.869
    precision 0.841
    served 0.199
    false_near 0.047
    false_off 0.001
"""

from __future__ import annotations

THRESHOLD = 0.79
FIRST_PROMPT_THRESHOLD = 0.64

RANK = (
    -2.23772,  # coverage
    2.60612,  # window
    0.93933,  # window_title
    1.00606,  # matches
    1.93229,  # title_asked
    -0.84603,  # in_title
    2.44626,  # title_both
    3.48770,  # in_tags
    1.21507,  # adjacent
    0.54496,  # rarest
    -0.18898,  # bm25_title
    2.68057,  # bm25_body
    0.00000,  # length
    1.01580,  # early
    1.04711,  # mass
    1.68173,  # window_mass
    0.67800,  # title_mass
    2.24213,  # trigger_asked
    1.93594,  # in_trigger
    1.02873,  # title_concepts
    -0.00000,  # store
)
RANK_MEAN = 5.30643

GATE = (
    -0.37465,  # coverage
    0.54552,  # window
    -0.51706,  # window_title
    1.47203,  # matches
    0.26265,  # title_asked
    -1.72573,  # in_title
    1.04934,  # title_both
    -0.39657,  # in_tags
    0.20327,  # adjacent
    0.22506,  # rarest
    0.70396,  # bm25_title
    0.41383,  # bm25_body
    -1.06449,  # length
    0.64043,  # early
    0.12803,  # mass
    0.83649,  # window_mass
    0.09157,  # title_mass
    1.35175,  # trigger_asked
    -0.85198,  # in_trigger
    0.98007,  # title_concepts
    -0.29618,  # store
    1.81210,  # share
    0.17295,  # log_share
    0.12348,  # score
    0.05400,  # lead
)
GATE_BASE = -3.66921
