"""Coefficients of the ranking and the relevance model. Written by `python -m bench fit`: do not edit.

The weights of each feature in the ranking and in the relevance model, with and without word vectors.
Fitted on destyler, eslint, harbor, league, life-bevy, life-bitwarden, life-guardian, life-hass, life-numpy, life-
opentofu, life-pandas, life-zoo, lumen, peps, polychrome, ruff, runbooks, specstory, together.
"""

from __future__ import annotations

THRESHOLD = 0.65
POINTER = 0.45
KEYWORD_THRESHOLD = 0.55
KEYWORD_POINTER = 0.3

WITH_MEANING = {
    "base": (-2.1542, -6.1127),
    "coverage": (0.4978, 1.2230),
    "window": (0.1070, -0.9134),
    "window_title": (0.0709, -0.0494),
    "matches": (-0.5728, -0.1363),
    "title_asked": (1.4022, -0.3363),
    "in_title": (-0.4733, -0.3020),
    "title_both": (2.7453, -1.1114),
    "in_tags": (3.6696, 2.8250),
    "adjacent": (0.7932, 0.5101),
    "rarest": (0.6285, 0.7922),
    "bm25_title": (0.8140, 0.8171),
    "bm25_body": (-0.1128, -0.7144),
    "length": (0.0000, 0.2046),
    "early": (0.0417, 0.4306),
    "mass": (0.4513, 0.9191),
    "window_mass": (-0.2344, 0.2030),
    "title_mass": (-0.6082, 0.6157),
    "trigger_asked": (0.5901, 1.1547),
    "in_trigger": (-0.9829, -0.2044),
    "title_concepts": (0.1389, -0.2375),
    "bm25_fields": (1.0088, -0.3836),
    "fields_share": (0.5520, -0.1977),
    "trigger_scarcity": (0.7964, 0.0948),
    "filler": (-0.0001, 1.7782),
    "store": (0.0000, 0.0403),
    "others": (-0.0000, -0.5283),
    "printed": (0.0001, -1.2374),
    "tags_alone": (6.0328, 0.9702),
    "meaning": (1.7684, 2.6397),
    "title_meaning": (-0.5665, -0.1588),
    "trigger_meaning": (0.9978, -0.3720),
    "sentence_meaning": (0.4150, -0.5566),
    "whole_meaning": (-0.9034, 0.1250),
    "meaning_lead": (0.4380, -1.2043),
    "meaning_z": (0.6170, 0.2954),
    "soft_coverage": (1.4339, -0.3517),
    "soft_lead": (0.4326, 0.2308),
    "vector_share": (-0.0000, -0.5859),
    "foreign": (-0.0000, 1.3117),
    "foreign_meaning": (-1.1169, 1.9451),
    "foreign_soft": (2.2465, 1.1892),
    "share": (0.0000, 1.7958),
    "log_share": (0.0000, 0.2257),
    "score": (0.0000, 0.1294),
    "lead": (0.0000, 0.1174),
}

WORDS_ONLY = {
    "base": (-1.6722, -5.8972),
    "coverage": (1.5714, 0.8505),
    "window": (0.3353, -0.9771),
    "window_title": (-0.3238, -0.3134),
    "matches": (-0.5771, -0.3237),
    "title_asked": (1.9771, -0.3406),
    "in_title": (-1.3726, -1.1337),
    "title_both": (2.7783, -0.0513),
    "in_tags": (5.1934, 3.1982),
    "adjacent": (0.8376, 0.6657),
    "rarest": (-0.1845, 0.1094),
    "bm25_title": (2.0043, 1.7425),
    "bm25_body": (1.0434, -0.1274),
    "length": (0.0000, 0.3167),
    "early": (0.1095, 0.4697),
    "mass": (0.7481, 1.0042),
    "window_mass": (-0.0769, 0.3134),
    "title_mass": (-0.3278, 0.7249),
    "trigger_asked": (0.9764, 1.1231),
    "in_trigger": (0.2896, 0.0706),
    "title_concepts": (0.5306, -0.0004),
    "bm25_fields": (1.2366, -0.3410),
    "fields_share": (0.7093, -0.3087),
    "trigger_scarcity": (1.1006, 0.0431),
    "filler": (-0.0001, 1.6188),
    "store": (0.0000, 0.2203),
    "others": (0.0000, -0.6385),
    "printed": (0.0001, -0.5101),
    "tags_alone": (5.2039, 0.8658),
    "share": (0.0000, 2.2103),
    "log_share": (0.0000, 0.2462),
    "score": (0.0000, 0.0866),
    "lead": (0.0000, 0.1132),
}
