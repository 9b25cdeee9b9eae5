"""How close a record is to a prompt in meaning: the features beside those of words."""

from __future__ import annotations

from onrecord import coldstart


class Meaning(coldstart.NamedTuple):
    """How close a record is to a prompt. The names are those of the features that ranking and gate weigh."""

    meaning: float = 0.0
    """The mean of `whole_meaning` and the best of title, trigger and sentence."""
    title_meaning: float = 0.0
    """The cosine of the prompt and the title."""
    trigger_meaning: float = 0.0
    """That of the closest trigger; 0 if there is none."""
    sentence_meaning: float = 0.0
    whole_meaning: float = 0.0
    meaning_lead: float = 0.0
    """By how much `meaning` is more than that of the closest other record; negative for all but the closest."""
    meaning_z: float = 0.0
    """By how many standard deviations the record's gist is closer than that of the average record of the store."""
    soft_coverage: float = 0.0
    """The share of the prompt's words, each counted by its similarity to the most similar word of the record."""
    soft_lead: float = 0.0
    """By how much `soft_coverage` is more than that of the best other candidate; negative for all but the best."""
    vector_share: float = 0.0
    """The share of the prompt's words that have a vector: where it is low, all others mean little."""


NAMES = Meaning._fields
"""The features by name and in order. They follow those of words."""

NOTHING = Meaning()
"""Of a record without vectors, and of all records where there is no table."""
