"""Advice on a record that is about to be saved, or was: as it is it would rarely be found, or says too little."""

from __future__ import annotations

from onrecord.capture import prompt_languages
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.record import check, check_proposal, rule_title
from onrecord.search import document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onrecord.record.memory import Memory

NO_TRIGGERS, LANGUAGES, GENERIC, TITLE, CHECKS = "no triggers", "languages", "generic", "title", "checks"
"""What advice is about: each surface adds how to follow it there."""


class Advice(NamedTuple):
    """One sentence of advice, and what it is about."""

    about: str
    text: str


def on(record: Memory, project: str, *, earlier_triggers: Sequence[str] = ()) -> Iterator[Advice]:
    """Yield advice on a record of a project; `earlier_triggers` are those that it had before a change."""
    # A session summary is shown when the next session starts, not for a prompt.
    takes_triggers = not CATEGORIES[record.category].max_active
    if takes_triggers and not record.triggers:
        yield Advice(NO_TRIGGERS, "it has no triggers, so prompts in other words rarely find it")
    languages = prompt_languages.missing(project, record.triggers) if takes_triggers and project else []
    if languages:
        yield Advice(LANGUAGES, prompt_languages.request(languages))
    new_triggers = tuple(trigger for trigger in record.triggers if trigger not in earlier_triggers)
    generic = document.trigger_note(record._replace(triggers=new_triggers))
    if generic:
        yield Advice(GENERIC, generic)
    better = rule_title.proposal(record)
    if better:
        topic = "its title names a topic, and the title is what a session starts with: state the rule"
        yield Advice(TITLE, f'{topic}, such as "{better}"')
    proposed = check_proposal.propose(record)
    if proposed:
        yield Advice(CHECKS, f"a program can check this rule: {check.describe(proposed)}")
