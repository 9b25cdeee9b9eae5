"""Coefficients of the model for commands. Written by `python -m bench actions --fit`: do not edit.

Fitted on specstory, cipherbox, cybervpn.
"""

from __future__ import annotations

THRESHOLD = 0.68

WEIGHTS = {
    "base": -5.0368,
    "family_in_trigger": 2.9724,
    "family_in_title": 2.4691,
    "family_in_body": 0.9163,
    "other_option": -1.9966,
    "unnamed": -2.9165,
    "run_in_trigger": 0.3670,
    "run_in_title": 0.4658,
    "run_in_body": 0.1404,
    "head_named": 0.3960,
    "head_in_body": 0.0663,
    "concept_named": 0.2260,
    "concept_in_body": 0.0384,
    "trigger_cover": 1.9697,
    "title_cover": 1.4979,
    "option": 0.5102,
    "arguments": 0.2030,
    "arguments_in_body": -0.0582,
    "texts": -0.0007,
    "lead": 0.1889,
    "alone": 0.4368,
    "rivals": -0.3554,
    "ordinary": -1.0206,
    "inspection": -1.9696,
    "delivery": 0.6952,
    "directive": 0.0965,
    "is_rule": 0.5272,
    "is_decision": -0.5174,
}
