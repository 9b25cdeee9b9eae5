"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.

Of each feature the weight in the ranking and in the gate; without a table of word vectors, those of words.
Fitted on eslint, harbor, life-bevy, life-bitwarden, life-guardian, life-hass, life-numpy, life-opentofu, life-pandas,
life-zoo, lumen, peps, ruff, runbooks, together.
"""

from __future__ import annotations

THRESHOLD = 0.7
POINTER = 0.32
KEYWORD_THRESHOLD = 0.55
KEYWORD_POINTER = 0.3

WITH_MEANING = {
    "base": (-2.8301, -6.6993),
    "coverage": (0.1078, 1.1994),
    "window": (0.2965, -0.0675),
    "window_title": (-0.4975, -1.3231),
    "matches": (-0.1240, -0.5845),
    "title_asked": (1.3133, 0.6399),
    "in_title": (-0.7224, -0.6037),
    "title_both": (2.1428, -1.2085),
    "in_tags": (4.7656, 1.6348),
    "adjacent": (0.5729, 0.9627),
    "rarest": (0.5337, 0.0769),
    "bm25_title": (1.1905, 1.8880),
    "bm25_body": (-0.1737, -0.5760),
    "length": (0.0000, 0.8086),
    "early": (0.2086, 0.3013),
    "mass": (0.2501, 0.9612),
    "window_mass": (-0.0595, 0.0941),
    "title_mass": (-0.4505, -0.1864),
    "trigger_asked": (0.7023, 1.6034),
    "in_trigger": (-0.2931, 0.1667),
    "title_concepts": (0.1468, -0.0919),
    "bm25_fields": (0.8874, -0.1352),
    "fields_share": (1.0254, 0.7834),
    "trigger_scarcity": (0.6719, -0.4474),
    "triggers": (-0.5133, -0.1983),
    "filler": (-0.0001, 2.9660),
    "store": (0.0000, 0.1493),
    "meaning": (2.2574, 3.2567),
    "title_meaning": (0.1918, 0.0858),
    "trigger_meaning": (1.8254, -0.6031),
    "sentence_meaning": (0.3771, -0.6330),
    "whole_meaning": (0.5219, -0.9955),
    "meaning_lead": (0.7942, -1.1813),
    "meaning_z": (0.5119, 0.2999),
    "soft_coverage": (1.7205, -0.5689),
    "soft_lead": (0.4920, 0.7501),
    "vector_share": (-0.0001, -1.1666),
    "share": (0.0000, 2.0396),
    "log_share": (0.0000, 0.1962),
    "score": (0.0000, 0.1092),
    "lead": (0.0000, 0.0580),
}

WORDS_ONLY = {
    "base": (-1.9887, -6.6548),
    "coverage": (1.1575, 0.9175),
    "window": (0.6044, -0.4413),
    "window_title": (-0.6809, -2.0574),
    "matches": (-0.1157, -0.5761),
    "title_asked": (2.0330, 0.3158),
    "in_title": (-0.8673, -2.3957),
    "title_both": (2.0232, -0.3764),
    "in_tags": (6.5951, 1.7276),
    "adjacent": (0.7111, 1.0042),
    "rarest": (-0.4912, 0.0598),
    "bm25_title": (2.4498, 3.6120),
    "bm25_body": (1.0445, 0.2331),
    "length": (0.0000, 0.5534),
    "early": (0.1830, 0.3556),
    "mass": (0.5492, 0.9507),
    "window_mass": (-0.0309, 0.2111),
    "title_mass": (-0.2034, 0.1556),
    "trigger_asked": (0.9197, 1.4970),
    "in_trigger": (1.6158, -0.0726),
    "title_concepts": (0.3706, -0.0484),
    "bm25_fields": (1.2587, -0.0190),
    "fields_share": (1.5420, 0.7048),
    "trigger_scarcity": (1.2192, -0.3260),
    "triggers": (-0.3544, -0.2896),
    "filler": (-0.0000, 2.5316),
    "store": (-0.0000, 0.2769),
    "share": (0.0000, 2.1855),
    "log_share": (0.0000, 0.2033),
    "score": (0.0000, 0.1104),
    "lead": (0.0000, 0.0637),
}
