"""Coefficients of the model for commands. Written by `python -m bench actions --fit`: do not edit.

Fitted on specstory, agentv, packmind, cipherbox.
"""

from __future__ import annotations

THRESHOLD = 0.72

WEIGHTS = {
    "base": -5.0966,
    "family_in_trigger": 2.9884,
    "family_in_title": 2.3291,
    "family_in_body": 0.7695,
    "other_option": -2.0265,
    "unnamed": -2.7230,
    "run_in_trigger": 0.3537,
    "run_in_title": 0.2383,
    "run_in_body": 0.1335,
    "head_named": 0.4463,
    "head_in_body": 0.1338,
    "concept_named": 0.4314,
    "concept_in_body": 0.2715,
    "trigger_cover": 1.9424,
    "title_cover": 1.4945,
    "option": 0.5598,
    "arguments": 0.3585,
    "arguments_in_body": 0.0869,
    "texts": 0.0488,
    "lead": 0.0481,
    "alone": 0.3479,
    "rivals": -0.6591,
    "ordinary": -1.0909,
    "inspection": -1.9986,
    "delivery": 0.8504,
    "directive": 0.1068,
    "is_rule": 0.5178,
    "is_decision": -0.5154,
}
