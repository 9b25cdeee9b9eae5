"""Advice on a record that is about to be saved: as it is it would rarely be found, or says too little."""

from __future__ import annotations

from onrecord.capture import prompt_languages
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.record import check, check_proposal, naming, rule_title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onrecord.record.memory import Memory

NO_TRIGGERS = "it has no triggers, so prompts in other words rarely find it"
TOPIC = "its title names a topic, and the title is what a session starts with: state the rule"
WITHOUT_TRIGGERS = tuple(category.name for category in CATEGORIES.values() if category.max_active)
"""Session summaries, which are shown when the next session starts, not for a prompt."""


class Advice(NamedTuple):
    """One sentence of advice, and the field that it is about."""

    field: str
    text: str


def on(record: Memory, project: str, *, earlier_triggers: Sequence[str] = ()) -> Iterator[Advice]:
    """Yield advice on a record of a project; `earlier_triggers` are those that it had before a change."""
    takes_triggers = record.category not in WITHOUT_TRIGGERS
    if takes_triggers and not record.triggers:
        yield Advice("triggers", NO_TRIGGERS)
    languages = prompt_languages.missing(project, record.triggers) if takes_triggers and project else []
    if languages:
        yield Advice("triggers", prompt_languages.request(languages))
    generic = naming.generic_note([text for text in record.triggers if text not in earlier_triggers])
    if generic:
        yield Advice("triggers", generic)
    better = rule_title.proposal(record)
    if better:
        yield Advice("title", f'{TOPIC}, such as "{better}"')
    proposed = check_proposal.propose(record)
    if proposed:
        yield Advice("checks", f"a program can check this rule: {check.describe(proposed)}")
