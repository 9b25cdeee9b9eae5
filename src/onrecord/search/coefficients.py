"""Coefficients of the ranking and the relevance model. Written by `python -m bench fit`: do not edit.

The weights of each feature in the ranking and in the relevance model, with and without word vectors.
Fitted on eslint, harbor, life-bevy, life-bitwarden, life-guardian, life-hass, life-numpy, life-opentofu, life-pandas,
life-zoo, lumen, peps, ruff, runbooks, together.
"""

from __future__ import annotations

THRESHOLD = 0.66
POINTER = 0.31
KEYWORD_THRESHOLD = 0.55
KEYWORD_POINTER = 0.3

WITH_MEANING = {
    "base": (-2.9216, -5.5651),
    "coverage": (0.1860, 1.1155),
    "window": (0.1141, -0.0570),
    "window_title": (-0.7200, -0.6060),
    "matches": (-0.1101, -0.5208),
    "title_asked": (1.1721, -0.3185),
    "in_title": (-0.4987, -1.0771),
    "title_both": (2.2476, -1.6672),
    "in_tags": (4.9135, 2.6472),
    "adjacent": (0.4846, 0.8469),
    "rarest": (0.5954, 0.1964),
    "bm25_title": (1.3845, 2.0204),
    "bm25_body": (-0.2711, -0.8896),
    "length": (-0.0000, 0.6663),
    "early": (0.2381, 0.4460),
    "mass": (0.2831, 1.0184),
    "window_mass": (0.0113, 0.3112),
    "title_mass": (-0.5116, 0.6019),
    "trigger_asked": (0.7618, 1.4388),
    "in_trigger": (-0.2485, 0.2402),
    "title_concepts": (0.1399, -0.2191),
    "bm25_fields": (0.8445, -0.4086),
    "fields_share": (0.8867, 0.4781),
    "trigger_scarcity": (0.6243, 0.0002),
    "triggers": (-0.5311, -0.2381),
    "filler": (0.0001, 2.7070),
    "store": (-0.0000, -0.0421),
    "meaning": (2.2550, 2.0546),
    "title_meaning": (0.1660, 0.0265),
    "trigger_meaning": (1.7579, -0.2671),
    "sentence_meaning": (0.3408, -0.5172),
    "whole_meaning": (0.4480, -0.3390),
    "meaning_lead": (0.8248, -0.8573),
    "meaning_z": (0.5216, 0.3075),
    "soft_coverage": (1.7097, -0.5910),
    "soft_lead": (0.5543, 0.9355),
    "vector_share": (0.0001, -1.1135),
    "share": (0.0000, 1.8091),
    "log_share": (0.0000, 0.2004),
    "score": (0.0000, 0.1089),
    "lead": (0.0000, 0.0719),
}

WORDS_ONLY = {
    "base": (-2.0306, -5.8149),
    "coverage": (1.3605, 0.7989),
    "window": (0.3735, -0.2503),
    "window_title": (-0.9173, -1.0507),
    "matches": (-0.1568, -0.5585),
    "title_asked": (1.6919, -0.3439),
    "in_title": (-0.7679, -1.9789),
    "title_both": (2.3244, -1.0634),
    "in_tags": (6.6479, 2.7986),
    "adjacent": (0.5970, 0.8475),
    "rarest": (-0.4279, 0.0183),
    "bm25_title": (2.7077, 2.9947),
    "bm25_body": (1.0078, -0.4528),
    "length": (0.0000, 0.4777),
    "early": (0.2039, 0.5908),
    "mass": (0.5642, 1.0103),
    "window_mass": (0.0366, 0.5022),
    "title_mass": (-0.2307, 0.8476),
    "trigger_asked": (0.9969, 1.4090),
    "in_trigger": (1.6040, 0.1949),
    "title_concepts": (0.3345, -0.1433),
    "bm25_fields": (1.2171, -0.2742),
    "fields_share": (1.4790, 0.4162),
    "trigger_scarcity": (1.1163, 0.0804),
    "triggers": (-0.3781, -0.2650),
    "filler": (-0.0001, 2.4308),
    "store": (0.0000, 0.0766),
    "share": (0.0000, 2.0225),
    "log_share": (0.0000, 0.2340),
    "score": (0.0000, 0.0919),
    "lead": (0.0000, 0.0835),
}
