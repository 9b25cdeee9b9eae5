"""Coefficients of the model for commands. Written by `python -m bench actions --fit`: do not edit.

Fitted on specstory, cipherbox, cybervpn.
"""

from __future__ import annotations

THRESHOLD = 0.68

WEIGHTS = {
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
