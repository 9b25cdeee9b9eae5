"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.

Fitted 2026-11-15 on eslint, harbor, harbor-, lumen, lumen-, peps, ruff, runbooks (a dash: without triggers).
Left out one at a time, mean over the sets of other people: ndcg@10 0.747, auc 0.868, precision 0.673, served 0.399, false_near 0.167, false_off 0.012.
"""

from __future__ import annotations

THRESHOLD = 0.5
FIRST_PROMPT_THRESHOLD = 0.4

RANK = (
    -2.70547,  # coverage
    2.87043,  # window
    0.80302,  # window_title
    1.13406,  # matches
    1.88527,  # title_asked
    -0.62604,  # in_title
    1.87676,  # title_both
    3.28505,  # in_tags
    1.24532,  # adjacent
    0.54444,  # rarest
    -0.06084,  # bm25_title
    2.64213,  # bm25_body
    0.00196,  # length
    0.95890,  # early
    1.01086,  # mass
    1.76061,  # window_mass
    0.80431,  # title_mass
    2.13928,  # trigger_asked
    2.21262,  # in_trigger
    0.98929,  # title_concepts
)
RANK_MEAN = 5.24363

GATE = (
    -0.75219,  # coverage
    0.02813,  # window
    -0.83131,  # window_title
    1.12074,  # matches
    -0.38784,  # title_asked
    -2.18411,  # in_title
    2.17103,  # title_both
    -0.11787,  # in_tags
    0.13004,  # adjacent
    1.14856,  # rarest
    0.78469,  # bm25_title
    0.74033,  # bm25_body
    -1.07897,  # length
    0.63866,  # early
    0.28448,  # mass
    0.72597,  # window_mass
    -0.16554,  # title_mass
    1.13510,  # trigger_asked
    -0.66433,  # in_trigger
    1.01730,  # title_concepts
    2.59621,  # share
    0.25110,  # log_share
    0.13340,  # score
    -0.05775,  # lead
)
GATE_BASE = -4.98829
