"""Coefficients of the models. Each part is written by the command that it names: do not edit.

The tables of the first part have two columns, for the ranking and for the relevance model.
"""

from __future__ import annotations

# Prompts: `python -m bench fit`.
# Fitted on destyler, eslint, harbor, league, life-bevy, life-bitwarden, life-guardian, life-hass, life-numpy,
# life-opentofu, life-pandas, life-zoo, lumen, peps, polychrome, ruff, runbooks, specstory, together.
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

# Searches: `python -m bench searches`.
SEARCH_FLOOR = 0.01
SEARCH_KEYWORD_ASKED = 0.05
SEARCH_FITS = 0.05
SEARCH_FITS_LONG = 0.015

SEARCH_BASE = -2.13523
SEARCH_WEIGHTS = {
    "coverage": -0.54630,
    "title_asked": 0.58584,
    "in_title": -0.49068,
    "title_both": 8.60898,
    "in_tags": 0.58579,
    "adjacent": 1.47109,
    "trigger_asked": 1.22051,
    "in_trigger": 0.09279,
    "matches": -0.32915,
    "length": -0.43284,
    "mass": 1.97769,
    "store": 0.00067,
    "meaning": -0.74050,
    "title_meaning": 0.96054,
    "trigger_meaning": 0.27391,
    "meaning_lead": 4.26978,
    "meaning_z": 0.28241,
    "soft_coverage": 0.31914,
    "soft_lead": 0.94388,
    "vector_share": -0.52680,
}

SEARCH_WORDS_BASE = -2.30405
SEARCH_WORDS_WEIGHTS = {
    "coverage": 1.41932,
    "title_asked": 2.56528,
    "in_title": 0.00648,
    "title_both": 9.07286,
    "in_tags": 0.88113,
    "adjacent": 1.58091,
    "trigger_asked": 1.76611,
    "in_trigger": 0.15533,
    "matches": -2.30690,
    "length": -0.37934,
    "mass": 4.12063,
    "store": -0.21804,
}

# Past questions: `python -m bench past --fit`.
PAST_ENGLISH = (0.695, 0.374, 0.226)
PAST_OTHERS = (0.716, 0.071, 0.002)
"""Probabilities by language: of a rule, of a pointer, and below which nothing is on file."""

PAST_BASE = -4.77770
PAST_WEIGHTS = {
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

PAST_WORDS_BASE = -2.48728
PAST_WORDS_WEIGHTS = {
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

# Commands: `python -m bench actions --fit`.
# Fitted on specstory, cipherbox, cybervpn.
COMMAND_THRESHOLD = 0.68

COMMAND_WEIGHTS = {
    "base": -5.0328,
    "family_in_trigger": 2.9723,
    "family_in_title": 2.4697,
    "family_in_body": 0.9168,
    "other_option": -1.9960,
    "unnamed": -2.9166,
    "run_in_trigger": 0.3659,
    "run_in_title": 0.4661,
    "run_in_body": 0.1404,
    "head_named": 0.3959,
    "head_in_body": 0.0662,
    "concept_named": 0.2254,
    "concept_in_body": 0.0377,
    "trigger_cover": 1.9695,
    "title_cover": 1.4980,
    "option": 0.5102,
    "arguments": 0.2030,
    "arguments_in_body": -0.0581,
    "texts": -0.0007,
    "lead": 0.1874,
    "alone": 0.4370,
    "rivals": -0.3555,
    "ordinary": -1.0206,
    "inspection": -1.9699,
    "delivery": 0.6952,
    "directive": 0.0965,
    "is_rule": 0.5274,
    "is_decision": -0.5175,
}
