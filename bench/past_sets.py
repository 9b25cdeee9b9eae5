"""Questions about the past, with the records that answer them; and the same questions with those records taken away.

The life sets of ours have some twenty each. `bench/sets/past` has more, for these and for projects of
`bench/sets/commands`: in other wordings, in four languages, and some that no record of the project answers.
"""

from __future__ import annotations

from bench import data, life_sets
from bench.data import Set

FIT = ("life-bevy", "cipherbox")
"""Projects whose past questions the weights are fitted on, beside the written questions of `life_sets.FIT`."""

CHOOSE = ("life-pandas", "cybervpn")
"""Projects on which features and thresholds were chosen."""

REPORT = (*life_sets.REPORT, "chkit", "entire", "ohmyposh")
"""Projects on which nothing of past questions was fitted and nothing chosen."""

PAST, ABSENT = "past", "absent"
_ASKED = data.OWN / "past"


def load(name: str, variant: str) -> Set:
    """Load a project with its past questions; those of kind `absent` have no answer on file."""
    if name.startswith("life-"):
        records, prompts = life_sets.load(name, variant)[1:]
    else:
        raw = list(data.lines(data.OWN / "commands" / name / "records.jsonl"))
        records = tuple(life_sets.record_of(each, {}, life_sets.VARIANTS[variant]) for each in raw)
        prompts = ()
    successor = {record.id: record.superseded_by for record in records if record.superseded_by}
    asked = [prompt for prompt in prompts if prompt.kind == PAST]
    file = _ASKED / f"{name}.jsonl"
    for each in data.lines(file) if file.exists() else ():
        asked.append(life_sets.prompt_of(each, successor))
    return Set(name, records, tuple(asked))
