"""Coefficients of the ranking and the gate. Written by `python -m bench fit`: do not edit.

Of each feature the weight in the ranking and in the gate; without a table of word vectors, those of words.
Fitted on eslint, harbor, life-bevy, life-bitwarden, life-guardian, life-hass, life-numpy, life-opentofu, life-pandas,
life-zoo, lumen, peps, ruff, runbooks, together.
"""

from __future__ import annotations

THRESHOLD = 0.69
POINTER = 0.31
KEYWORD_THRESHOLD = 0.55
KEYWORD_POINTER = 0.3

WITH_MEANING = {
    "base": (-2.9826, -6.3442),
    "coverage": (0.1554, 1.0862),
    "window": (0.2789, -0.2545),
    "window_title": (-0.5163, -1.1652),
    "matches": (-0.1087, -0.5512),
    "title_asked": (1.2342, 1.0768),
    "in_title": (-0.6413, -0.3703),
    "title_both": (2.1856, -2.5702),
    "in_tags": (4.7595, 1.8240),
    "adjacent": (0.5622, 1.0216),
    "rarest": (0.5607, 0.1618),
    "bm25_title": (1.1657, 1.8599),
    "bm25_body": (-0.1689, -0.5344),
    "length": (-0.0000, 0.7381),
    "early": (0.2245, 0.3116),
    "mass": (0.2511, 0.8764),
    "window_mass": (-0.0534, 0.0627),
    "title_mass": (-0.4437, -0.2511),
    "trigger_asked": (0.7465, 1.5053),
    "in_trigger": (-0.2793, 0.1147),
    "title_concepts": (0.1577, -0.1314),
    "bm25_fields": (0.8604, -0.0224),
    "fields_share": (0.9961, 0.7102),
    "trigger_scarcity": (0.6273, -0.3014),
    "triggers": (-0.5213, -0.1882),
    "filler": (-0.0000, 2.8112),
    "store": (-0.0000, 0.0914),
    "meaning": (2.2772, 2.5681),
    "title_meaning": (0.1876, 0.2174),
    "trigger_meaning": (1.8010, -0.6253),
    "sentence_meaning": (0.3894, -0.4753),
    "whole_meaning": (0.4282, -0.8276),
    "meaning_lead": (0.8314, -1.1228),
    "meaning_z": (0.5080, 0.3293),
    "soft_coverage": (1.6656, -0.4467),
    "soft_lead": (0.5119, 0.6993),
    "vector_share": (-0.0000, -1.1276),
    "share": (0.0000, 1.8216),
    "log_share": (0.0000, 0.1944),
    "score": (0.0000, 0.1231),
    "lead": (0.0000, 0.0837),
}

WORDS_ONLY = {
    "base": (-2.0563, -6.3575),
    "coverage": (1.1796, 0.9213),
    "window": (0.5909, -0.6355),
    "window_title": (-0.6759, -1.9393),
    "matches": (-0.1317, -0.6648),
    "title_asked": (1.8965, 0.5765),
    "in_title": (-0.7847, -2.0197),
    "title_both": (2.1964, -1.8284),
    "in_tags": (6.5266, 1.8486),
    "adjacent": (0.7123, 1.0551),
    "rarest": (-0.4572, -0.0910),
    "bm25_title": (2.3973, 3.5095),
    "bm25_body": (1.0151, 0.2303),
    "length": (0.0000, 0.5740),
    "early": (0.2098, 0.4051),
    "mass": (0.5370, 0.9063),
    "window_mass": (-0.0176, 0.2406),
    "title_mass": (-0.2124, 0.1736),
    "trigger_asked": (0.9550, 1.4410),
    "in_trigger": (1.6331, -0.1572),
    "title_concepts": (0.3642, -0.0772),
    "bm25_fields": (1.2217, 0.0579),
    "fields_share": (1.5019, 0.7456),
    "trigger_scarcity": (1.1439, -0.2755),
    "triggers": (-0.3723, -0.2611),
    "filler": (0.0001, 2.5182),
    "store": (0.0000, 0.2287),
    "share": (0.0000, 2.0124),
    "log_share": (0.0000, 0.2302),
    "score": (0.0000, 0.1233),
    "lead": (0.0000, 0.0887),
}
