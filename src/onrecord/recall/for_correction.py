"""The rule that was broken just now: what a prompt that corrects the agent shows, even if it was shown before.

A correction is strong evidence, so a weaker match is enough than at other prompts. What the session was shown is more
likely to be meant. Each record that the correction is about is counted as corrected, before it is shown.
"""

from __future__ import annotations

from onrecord import paths
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.session import transcript as transcripts
from onrecord.session.correction import REPROACH
from onrecord.session.ledger import Ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from onrecord.recall.candidate import Candidate, Item
    from onrecord.recall.stores import Stores
    from onrecord.session.transcript import Transcript
    from onrecord.settings import Settings

THRESHOLD, REPROACH_THRESHOLD = 0.45, 0.25
"""The lowest probability; a user who says it again knows of a rule."""

_SECOND_THRESHOLD = 0.55
_LATER_PROMPTS = 2
"""Prompts during which a correction without a topic is about the rule that was corrected before."""

_FAINT = 0.2
"""The probability below which a correction names no topic of a rule."""

_SHOWN_LOGITS = 1.0
"""Logits added to the probability of a record that the session was shown."""

_MAX_SHOWN = 2
_MAX_TOKENS = 260
_ASKED_AT = 2
"""The correction at which the agent is asked for a draft, once."""

HEADING = (
    "The user is correcting you, most likely about this rule: it is on record and was broken just now. Follow it, and"
    " repair what goes against it."
)


class Correction(NamedTuple):
    """A prompt that corrects the agent, how plainly it does, and the session and host in which it was typed."""

    prompt: str
    level: int
    session: str = ""
    host: str = ""


class CorrectedRule(NamedTuple):
    """A record that a correction is about, with its probability, and how often it was corrected by now."""

    candidate: Candidate
    probability: float
    times: int = 0


def block(stores: Stores, typed: Correction, settings: Settings, transcript: Transcript) -> str:
    """Return the block for a prompt that corrects the agent with a rule on file; it is noted and counted."""
    from onrecord.recall.candidate import AT_CORRECTION, RULE, count_shown

    with Ledger(typed.session) as ledger:
        is_first = ledger.is_first_prompt
    if is_first and typed.level < REPROACH and not transcripts.last_turns(transcript, 1):
        return ""
    broken = find(stores, typed, settings, ledger)
    if not broken:
        return ""
    corrected = _counted(broken, typed.host)
    items = _items(corrected)
    # What has no room was corrected all the same, but not shown.
    shown = corrected[: len(items)]
    with Ledger(typed.session) as ledger:
        for rule in corrected:
            ledger.add_broken(rule.candidate.record)
        for rule in shown:
            ledger.add_shown(rule.candidate.record, rule.candidate.text_hash)
    count_shown([rule.candidate._replace(form=RULE) for rule in shown], AT_CORRECTION)
    return _render(shown, items, asks=settings.text("capture.mode") != "off")


def find(stores: Stores, typed: Correction, settings: Settings, ledger: Ledger) -> list[CorrectedRule]:
    """Return the records that a correction is about, most probable first; those in `ledger` are more likely."""
    from onrecord.recall import for_prompt
    from onrecord.search import query, relevance

    best: dict[str, CorrectedRule] = {}
    parsed = query.parse_prompt(typed.prompt)
    for candidate in for_prompt.find(stores, parsed, settings) if parsed.terms else ():
        if _is_rule(candidate):
            is_known = ledger.has_named(candidate.record) or candidate.record in ledger.pointed
            shift = _SHOWN_LOGITS if is_known else 0.0
            probability = relevance.shifted(candidate.match.probability, shift)
            best[candidate.record] = CorrectedRule(candidate, probability)
    threshold = REPROACH_THRESHOLD if typed.level == REPROACH else THRESHOLD
    ranked = sorted(best.values(), key=lambda rule: -rule.probability)
    broken = [rule for rule in ranked[:1] if rule.probability >= threshold]
    broken += [rule for rule in ranked[1:_MAX_SHOWN] if broken and rule.probability >= _SECOND_THRESHOLD]
    is_faint = not ranked or ranked[0].probability < _FAINT
    return broken or (_just_shown(stores, ledger) if is_faint else [])


def _just_shown(stores: Stores, ledger: Ledger) -> list[CorrectedRule]:
    """Return the one rule that was shown or corrected just now: "no, not like that" is about it."""
    from onrecord.recall import selection

    corrected = [key for key, prompts in ledger.broken.items() if ledger.prompts - prompts <= _LATER_PROMPTS]
    recent = list(ledger.recent) or corrected[-1:]
    if len(recent) != 1:
        return []
    candidates = selection.as_they_are(recent, stores)
    return [CorrectedRule(candidate, THRESHOLD) for candidate in candidates if _is_rule(candidate)]


def _is_rule(candidate: Candidate) -> bool:
    """True for a rule that the agent can have broken: not of a repository that the user has yet to accept."""
    return CATEGORIES[candidate.match.category].is_rule and candidate.is_accepted


def _counted(corrected_rules: Sequence[CorrectedRule], host: str) -> list[CorrectedRule]:
    """Count the corrections, and return the rules with how often each was corrected."""
    from onrecord import usage

    return [
        rule._replace(times=usage.count_correction(rule.candidate.match.root, rule.candidate.match.path, host))
        for rule in corrected_rules
    ]


def _items(corrected_rules: Sequence[CorrectedRule]) -> list[Item]:
    """Return the first of the rules, as many as have room, each with how often it was corrected."""
    from onrecord.recall.candidate import Cautions, fitting_items

    cautions, items = Cautions(), []
    for rule in corrected_rules:
        item = cautions.beside(rule.candidate).item
        times = f"corrected by the user {rule.times} times so far" if rule.times > 1 else "corrected by the user"
        items.append(item._replace(confidence="", note="; ".join(filter(None, (times, item.note)))))
    return fitting_items(items, _MAX_TOKENS)


def _render(shown: Sequence[CorrectedRule], items: Sequence[Item], *, asks: bool) -> str:
    """Return the block for the agent: the rules, and at the second correction of one the request to draft a check."""
    from onrecord.text import fence, join

    lines = [HEADING, *(item.render() for item in items)]
    text: str = fence({"source": paths.PROJECT_PREFIX}, lines, [item.title for item in items])
    for rule in shown:
        if asks and rule.times == _ASKED_AT:
            text = join(text, request(rule))
    return text


def request(corrected_rule: CorrectedRule) -> str:
    """Return the lines that ask the agent to draft a check or a trigger for a rule that was broken again."""
    from onrecord.store import record_names

    match = corrected_rule.candidate.match
    name = record_names.short_name(match.path)
    options = f"{paths.store_flag(corrected_rule.candidate.prefix)}--draft"
    return (
        f"Memory: the user had to correct {name} twice. When the work is done, draft what would have prevented it, in"
        " the words of the correction; the user decides with: onrecord review\n"
        f"If a command or an added line shows the mistake: onrecord update {name} {options} --check '{_CHECK}'\n"
        f"Otherwise: onrecord update {name} {options} --trigger 'the task that led to it'"
    )


_CHECK = '{"on": "command", "starts": ["THE COMMAND"], "say": "WHAT TO DO INSTEAD"}'
"""The form of a check, for the agent to fill in."""
