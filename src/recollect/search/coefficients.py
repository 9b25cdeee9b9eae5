"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.

Fitted 2026-11-15 on eslint, harbor, harbor-, lumen, lumen-, peps, ruff, runbooks (a dash: without triggers).
Each left out in turn, at the threshold, mean over the sets of other people:

    ndcg@10 0.744
    auc 0.869
    precision 0.843
    served 0.196
    false_near 0.046
    false_off 0.000
"""

from __future__ import annotations

THRESHOLD = 0.8

RANK = (
    -2.32766,  # coverage
    2.64266,  # window
    0.78151,  # window_title
    1.03889,  # matches
    2.01626,  # title_asked
    -0.89517,  # in_title
    2.56011,  # title_both
    3.50143,  # in_tags
    1.25182,  # adjacent
    0.53108,  # rarest
    -0.63142,  # bm25_title
    2.65640,  # bm25_body
    0.00413,  # length
    1.01800,  # early
    1.01687,  # mass
    1.72646,  # window_mass
    0.66111,  # title_mass
    0.94874,  # trigger_asked
    2.46036,  # in_trigger
    1.18332,  # title_concepts
    0.00000,  # store
)
RANK_MEAN = 5.25650

GATE = (
    -0.37126,  # coverage
    0.26254,  # window
    -0.40706,  # window_title
    1.30948,  # matches
    0.06951,  # title_asked
    -1.70035,  # in_title
    1.30049,  # title_both
    -0.48610,  # in_tags
    0.21894,  # adjacent
    0.01371,  # rarest
    0.82505,  # bm25_title
    0.52608,  # bm25_body
    -1.04996,  # length
    0.68663,  # early
    0.16032,  # mass
    0.92578,  # window_mass
    0.05156,  # title_mass
    1.43153,  # trigger_asked
    -1.42430,  # in_trigger
    0.80350,  # title_concepts
    -0.28187,  # store
    1.83715,  # share
    0.18978,  # log_share
    0.12656,  # score
    0.05771,  # lead
)
GATE_BASE = -3.49619
