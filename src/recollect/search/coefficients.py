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
POINTER = 0.45
KEYWORD_THRESHOLD = 0.55
KEYWORD_POINTER = 0.3
RANK_MEAN = 5.25650
GATE_BASE = -3.49619

# Name: weight in the ranking, weight in the gate.
FEATURES = {
    "coverage": (-2.32766, -0.37126),
    "window": (2.64266, 0.26254),
    "window_title": (0.78151, -0.40706),
    "matches": (1.03889, 1.30948),
    "title_asked": (2.01626, 0.06951),
    "in_title": (-0.89517, -1.70035),
    "title_both": (2.56011, 1.30049),
    "in_tags": (3.50143, -0.48610),
    "adjacent": (1.25182, 0.21894),
    "rarest": (0.53108, 0.01371),
    "bm25_title": (-0.63142, 0.82505),
    "bm25_body": (2.65640, 0.52608),
    "length": (0.00413, -1.04996),
    "early": (1.01800, 0.68663),
    "mass": (1.01687, 0.16032),
    "window_mass": (1.72646, 0.92578),
    "title_mass": (0.66111, 0.05156),
    "trigger_asked": (0.94874, 1.43153),
    "in_trigger": (2.46036, -1.42430),
    "title_concepts": (1.18332, 0.80350),
    "store": (0.00000, -0.28187),
    "meaning": (0.00000, 0.00000),
    "title_meaning": (0.00000, 0.00000),
    "trigger_meaning": (0.00000, 0.00000),
    "sentence_meaning": (0.00000, 0.00000),
    "whole_meaning": (0.00000, 0.00000),
    "meaning_lead": (0.00000, 0.00000),
    "meaning_z": (0.00000, 0.00000),
    "soft_coverage": (0.00000, 0.00000),
    "soft_lead": (0.00000, 0.00000),
    "vector_share": (0.00000, 0.00000),
}
# Of the score among the other scores, in the gate only.
RELATIVE = {"share": 1.83715, "log_share": 0.18978, "score": 0.12656, "lead": 0.05771}

RANK = tuple(rank for rank, _ in FEATURES.values())
GATE = (*(gate for _, gate in FEATURES.values()), *RELATIVE.values())
