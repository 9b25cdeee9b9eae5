"""The outcome of "Chosen option: NAME, because REASON": which option that is, and which were not chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onrecord.coldstart import NamedTuple
from onrecord.importers import adr_options, adr_wording
from onrecord.importers.adr_options import Option
from onrecord.markdown import Page

_LABEL = re.compile(
    rf"[`(#\[*_]*(?:{adr_options.NOUN}\s+)?#?(\d{{1,2}}|[A-Z])(?=[`)\].:;,\s*_]|$)[`)\]*_]*\s*", re.IGNORECASE
)
"""A letter or number that stands for an option at the beginning of a text."""

_FOLLOWS = re.compile(r",?\s*(?:because(?: of)?|since|as|due to|for)\b[:,]?\s*", re.IGNORECASE)

_MODIFIED = re.compile(r"\(modified\)\s*", re.IGNORECASE)

_QUOTES = {'"': '"', "“": "”", "'": "'", "«": "»"}

_LONGEST_NAME = 400
"""Characters within which the name of an option ends."""

_RECOGNISED = 24
"""Characters by which the name of an option is recognised."""

_LONG_ENOUGH = 80
"""Characters of an outcome that says more than an option's name, so that what the list says of it is not needed."""


class Outcome(NamedTuple):
    """What was decided and why, what was not, and what is against reading it so."""

    decision: str = ""
    reasons: tuple[str, ...] = ()
    alternatives: tuple[Option, ...] = ()
    doubt: str = ""
    context: str = ""
    effects: tuple[str, ...] = ()
    line: int = 1


def read(page: Page, text: str, options: Sequence[Option]) -> Outcome:
    """The outcome of "Chosen option: NAME, because REASON. More." """
    by_label = adr_options.numbered(page, options)
    text = _without_label(text, by_label)
    named = _by_label(text, by_label)
    if named:
        return named if named.doubt else named._replace(alternatives=_others(options, named))
    name, reason, rest = _parts(text, options)
    spelled = adr_options.spelled_out(name, by_label) if name else ""
    if not spelled or adr_wording.NOTHING_YET.match(name):
        return Outcome(doubt=_doubt(name, spelled))
    chosen = _named(name, by_label) or adr_options.chosen(name, options)
    decision = _elaborated(spelled, rest, chosen, by_label)
    if not chosen and adr_wording.LEANS_ON_OTHER_TEXT.search(name) and len(decision) < adr_wording.SHORT:
        return Outcome(doubt="what it chooses is described elsewhere on the page")
    others = tuple(option for option in options if option not in chosen) if chosen else ()
    return Outcome(decision, (reason,) if reason else (), _not_in(others, name))


def _doubt(name: str, spelled: str | None) -> str:
    if spelled is None:
        return f"it chooses {name[:60]!r}, and no option of that name is listed"
    return "nothing is decided yet" if name else "no option is named"


def _elaborated(spelled: str, rest: str, chosen: Sequence[Option], by_label: dict[str, Option]) -> str:
    """The name of the choice with what the list of options says of it, if nothing else does, and what follows."""
    decision = spelled
    if len(chosen) == 1 and len(f"{spelled} {rest}") < _LONG_ENOUGH and chosen[0].text not in spelled:
        decision = f"{spelled}: {chosen[0].text}"
    if rest:
        following = adr_options.spelled_out(rest, by_label)
        decision = adr_wording.whole(f"{decision.rstrip('.')}. {rest if following is None else following}")
    return decision


def _by_label(text: str, by_label: dict[str, Option]) -> Outcome | None:
    """The outcome of a text that begins with the letter or number of an option, and does not say its name."""
    label = _LABEL.match(text)
    rest = text[label.end() :] if label else ""
    if not label or (rest and rest[0] not in ".,:;" and not _FOLLOWS.match(rest)):
        return None
    option = by_label.get(label[1].upper())
    if option is None:
        return Outcome(doubt=f"it chooses option {label[1]}, and no option of that name is listed")
    stop = re.match(r"[.;]\s*", rest) or adr_wording.STOP.search(rest)
    sentence, following = (rest[: stop.start()], rest[stop.end() :].strip()) if stop else (rest, "")
    lead = _FOLLOWS.match(sentence)
    reason = sentence[lead.end() :].strip(" .,:") if lead else ""
    spelled = adr_options.spelled_out(following, by_label) if following else ""
    decision = adr_wording.whole(f"{option.line.rstrip('.')}. {following if spelled is None else spelled}".strip())
    return Outcome(decision, (f"{reason[:1].upper()}{reason[1:]}",) if len(reason.split()) > 1 else ())


def _without_label(text: str, by_label: dict[str, Option]) -> str:
    """The text without the letter or number before the name of an option: "2. Standalone server" is that server."""
    label = re.match(r"[\"“'_*]*(?:option\s+)?#?(\d{1,2}|[A-Z])[.):]\s+", text, re.IGNORECASE)
    option = by_label.get(label[1].upper()) if label else None
    if not label or not option or not text[label.end() :].lower().startswith(option.name.lower()[:_RECOGNISED]):
        return text
    opening = text[:1] if text[:1] in _QUOTES else ""
    return opening + text[label.end() :]


def _others(options: Sequence[Option], outcome: Outcome) -> tuple[Option, ...]:
    """The options that an outcome, which begins with the line of one, did not choose."""
    return tuple(option for option in options if not outcome.decision.startswith(option.line.rstrip(".")))


def _parts(text: str, options: Sequence[Option]) -> tuple[str, str, str]:
    """The name of what is chosen, the reason, and what follows."""
    text = _MODIFIED.sub("", text, count=1)
    start = _end_of_quotation(text, options)
    stop = adr_wording.STOP.search(text, start)
    because = adr_wording.BECAUSE.search(text, start)
    sentence = text[: stop.start()] if stop else text
    rest = text[stop.end() :].strip() if stop else ""
    if because and because.start() < len(sentence):
        name, reason = text[: because.start()], sentence[because.end() :].strip()
    else:
        name, reason = sentence, ""
    if start:
        name = f"{text[1 : start - 1].rstrip('.,')} {name[start:].strip(' ,.:')}"
    return _unmarked(name), f"{reason[:1].upper()}{reason[1:]}".rstrip(" .,"), rest


def _end_of_quotation(text: str, options: Sequence[Option]) -> int:
    """Where a quotation that begins the text ends: there may be others in it, so the name of an option is preferred."""
    closing = _QUOTES.get(text[:1], "")
    ends = (
        [match.end() for match in re.finditer(rf"{closing}(?=[\s,.;:()]|$)", text[1:_LONGEST_NAME])] if closing else []
    )
    names = {option.name.lower() for option in options}
    exact = [end for end in ends if text[1:end].strip(" .\"'").lower() in names]
    return (exact or ends or [-1])[0] + 1


def _unmarked(name: str) -> str:
    """A name without marks around all of it; marks around a part of it stay."""
    name = name.strip(" *,.:")
    is_around = len(name) > 1 and name[-1] == {**_QUOTES, "`": "`"}.get(name[0]) and name.count(name[-1]) <= 2
    return name[1:-1].strip(" *,.:") if is_around else name


def _named(name: str, by_label: dict[str, Option]) -> list[Option]:
    """The options that a name refers to by letter or number alone."""
    labels = re.findall(r"(?<![\w-])(\d{1,2}|[A-Z])(?![\w-])", name)
    is_reference = bool(labels) and bool(re.match(r"#?(?:options?\s+)?#?(?:\d{1,2}|[A-Z])\b", name, re.IGNORECASE))
    chosen = [by_label[label] for label in labels if label in by_label] if is_reference else []
    return chosen if len(chosen) == len(labels) else []


def _not_in(options: Sequence[Option], name: str) -> tuple[Option, ...]:
    """Options without those that the name of the choice has too: whether they were rejected is not certain."""
    words = adr_options.words_of(name)
    return tuple(option for option in options if option.words and not option.words <= words)
