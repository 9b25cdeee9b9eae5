"""What a page decides, in words that stand on their own; or why that cannot be read with certainty.

A wrong decision is worse than none: whatever is in doubt is left to an agent that reads the whole page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.coldstart import NamedTuple
from recollect.importers import adr_options, adr_page
from recollect.importers.adr_options import Option
from recollect.markdown import Page
from recollect.text import sentences

_CHOSEN = re.compile(
    r"(?:the )?(?:chosen|selected|preferred|agreed) (?:option|solution|alternative|approach|proposal)(?:s|\(s\))?"
    r"(?: (?:is|are|was|were)(?= ))?\s*[:–—-]?\s*",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\s*,?\s*\b(?:because(?: of)?|since)\b[:,]?\s*", re.IGNORECASE)
_MODIFIED = re.compile(r"\(modified\)\s*", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "'": "'", "«": "»"}
_NOTHING_YET = re.compile(
    r"(?:(?:not|to be) (?:yet )?(?:decided|determined|discussed|made)|we (?:will )?(?:still )?need to decide|"
    r"(?:tbd|tbc|n/?a|todo|none|pending|undecided|wip)\b|no decision|"
    r"(?:this|we) (?:has|have) not (?:yet )?(?:been )?decided|decision (?:is )?pending|under discussion|in discussion)",
    re.IGNORECASE,
)
_ONLY_A_STATUS = re.compile(
    r"(?:\W*(?:accepted|approved|agreed|implemented|adopted|proposed|rejected|declined|superseded|deprecated|draft|yes|no|"
    r"done|final|go|see)\W*)+",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\{[A-Za-z][A-Za-z ,.'|/-]{7,}\}|^\(\w+\)$|"
    r"\[(?:short|describe|insert|option|title|justification|text)[^\]]*\]|<(?:describe|insert|option|title)[^>]*>|"
    r"what is the change that we(?:'|’)re (?:proposing|actually)|description of the decision|"
    r"this section (?:describes|should)|describe (?:the|our|your) (?:decision|response)|lorem ipsum|"
    r"\bwe will \.\.\.|^\.\.\.$|^_+$|state the (?:architecture )?decision",
    re.IGNORECASE,
)
_LEANS_ON_OTHER_TEXT = re.compile(
    r"\b(?:above|below|aforementioned|as (?:described|proposed|outlined|suggested|discussed|per|stated|follows)|"
    r"(?:this|these|the|that) (?:\w+ )?(?:proposal|approach|option|solution|suggestion|rfc|plan|recommendation|"
    r"document|adr|changes?|pattern|design)s?\b|the (?:former|latter|proposed|suggested|recommended)|"
    r"(?:implement|do|adopt|accept|approve|try|use|choose|go with|proceed with|go ahead with) (?:this|it|that|these|"
    r"both|all|them)\b|status quo|do nothing|here\b)",
    re.IGNORECASE,
)
_STOP = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!](?:\s|$)")
_LONGEST_NAME = 400
"""Characters within which the name of an option ends."""

_SHORT = 110
"""Characters below which a text that points elsewhere says nothing itself."""

_LONGEST_TEXT = 20_000
"""Characters of a section that are looked at; a decision is stated in the first few hundred."""

_FEWEST_WORDS = 2
_LONG_ENOUGH = 80
"""Characters of an outcome that says more than an option's name, so that what the list says of it is not needed."""

_Y_PARTS = {
    "context": r"\bin the context of\b",
    "concern": r"\bfacing\b",
    "option": r"\bwe (?:have )?(?:decided|chose|choose|decide)\b(?: (?:for|to use|on|to)\b)?",
    "goal": r"\b(?:in order )?to achieve\b",
    "cost": r"\baccepting\b(?: that\b| the downsides? (?:that|of)\b)?",
}
"""What leads each part of a Y-statement, in their order."""

_NEGLECTED = re.compile(
    r",?\s+(?:and (?:neglected|against|rejected|not)|neglecting|over|rather than|instead of)\b", re.IGNORECASE
)


class Outcome(NamedTuple):
    """What was decided and why, what was not, and what is against reading it so."""

    decision: str = ""
    reasons: tuple[str, ...] = ()
    alternatives: tuple[Option, ...] = ()
    doubt: str = ""
    context: str = ""
    effects: tuple[str, ...] = ()
    line: int = 1


def read(page: Page) -> Outcome:
    """The outcome of the decision on a page."""
    statement = _y_statement(page)
    if statement:
        return statement
    sections = adr_page.decisions(page)
    if not sections:
        return Outcome(doubt="no section says what was decided")
    names = [adr_page.heading(section) for section, _ in sections]
    if len(names) > len(set(names)) and len(names) > 1 and names.count(names[0]) > 1:
        return Outcome(doubt="it holds several decisions", line=sections[0][0].line)
    for section, in_heading in sections:
        text = f"{in_heading.rstrip('.')}. " if in_heading else ""
        text = (text + adr_page.text_of(page, section)).strip()
        if text:
            return _outcome(page, text[:_LONGEST_TEXT])._replace(line=section.line)
    return Outcome(doubt="the section for the decision holds no text", line=sections[0][0].line)


def _outcome(page: Page, text: str) -> Outcome:
    doubt = _doubt(text)
    if doubt:
        return Outcome(doubt=doubt)
    options = adr_options.listed(page)
    lead = next((match for match in [_CHOSEN.match(text)] if match and match.end() > match.start()), None)
    if lead:
        return _choice(page, text[lead.end() :], options)
    return _spelled_out(page, text, options)


def _doubt(text: str) -> str:
    bare = text.strip(" .*_:\"'")
    if _PLACEHOLDER.search(text):
        return "it still holds the template's own words"
    is_asking = text.count("?") * 2 > len(sentences(text))
    if is_asking or (_NOTHING_YET.match(bare) and (len(bare) < _SHORT or bare[:2].lower() in ("tb", "we"))):
        return "nothing is decided yet"
    if _ONLY_A_STATUS.fullmatch(bare) or (len(bare.split()) < _FEWEST_WORDS and not _CHOSEN.match(text)):
        return "the section for the decision gives a status and no decision" if bare else "it decides nothing"
    return ""


def _choice(page: Page, text: str, options: Sequence[Option]) -> Outcome:
    """The outcome of "Chosen option: NAME, because REASON. More." """
    name, reason, rest = _parts(text, options)
    doubt = "no option is named" if not name else "nothing is decided yet" if _NOTHING_YET.match(name) else ""
    spelled = adr_options.spelled_out(name, adr_options.numbered(page, options)) if not doubt else ""
    if spelled is None:
        doubt = f"it chooses {name[:60]!r}, and no option of that name is listed"
    if doubt or not spelled:
        return Outcome(doubt=doubt or "no option is named")
    by_label = adr_options.numbered(page, options)
    chosen = _named(name, by_label) or adr_options.chosen(name, options)
    decision = spelled
    if len(chosen) == 1 and len(f"{spelled} {rest}") < _LONG_ENOUGH and chosen[0].text:
        decision = f"{spelled}: {chosen[0].text}" if chosen[0].text not in spelled else spelled
    if rest:
        following = adr_options.spelled_out(rest, by_label)
        decision = _whole(f"{decision.rstrip('.')}. {rest if following is None else following}")
    if not chosen and _LEANS_ON_OTHER_TEXT.search(name) and len(decision) < _SHORT:
        return Outcome(doubt="what it chooses is described elsewhere on the page")
    others = tuple(option for option in options if option not in chosen) if chosen else ()
    return Outcome(decision, (reason,) if reason else (), _not_in(others, name))


def _parts(text: str, options: Sequence[Option]) -> tuple[str, str, str]:
    """The name of what is chosen, the reason, and what follows."""
    text = _MODIFIED.sub("", text, count=1)
    start = _end_of_quotation(text, options)
    stop = _STOP.search(text, start)
    because = _BECAUSE.search(text, start)
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


def _spelled_out(page: Page, text: str, options: Sequence[Option]) -> Outcome:
    """The outcome of a section in free words."""
    text = _whole(text)
    if not text:
        return Outcome(doubt="what is decided stands in a table, in code or in a picture")
    spelled = adr_options.spelled_out(text, adr_options.numbered(page, options))
    if spelled is None:
        return Outcome(doubt="it names an option by a letter or number that is not listed")
    if spelled == text and len(text) < _SHORT and _LEANS_ON_OTHER_TEXT.search(text):
        return Outcome(doubt="what it decides is described elsewhere on the page")
    if text.endswith("?") and len(text) < _SHORT:
        return Outcome(doubt="it asks and does not decide")
    return Outcome(spelled, _reason(text))


def _reason(text: str) -> tuple[str, ...]:
    """The first reason that a text gives."""
    because = _BECAUSE.search(text)
    if not because:
        return ()
    stop = _STOP.search(text, because.end())
    reason = text[because.end() : stop.start() if stop else len(text)].strip(" .,")
    return (f"{reason[:1].upper()}{reason[1:]}",) if len(reason.split()) > 1 else ()


def _whole(text: str) -> str:
    """The text without a last clause that leads to something left out, such as code."""
    while text.endswith(":"):
        text = text[: max(text.rfind(". "), text.rfind("; "), 0)].strip()
    return text


def _y_statement(page: Page) -> Outcome | None:
    """In the context of A, facing B, we decided for C and neglected D, to achieve E, accepting F."""
    for section in page.sections:
        parts = _y_parts(adr_page.joined(section.blocks)[:_LONGEST_TEXT])
        if not parts or _PLACEHOLDER.search(" ".join(parts.values())) or "<" in parts["option"]:
            continue
        option, *others = _NEGLECTED.split(parts["option"], maxsplit=1)
        cost, *reason = _BECAUSE.split(parts["cost"], maxsplit=1)
        alternatives = tuple(
            Option("", each.strip()) for each in re.split(r",| and | or ", "".join(others)) if each.strip()
        )
        reasons = (f"To achieve {parts['goal']}", *reason)
        context = f"{parts['context']}, facing {parts['concern']}"
        return Outcome(option.strip(" ,"), reasons, alternatives, "", context, (f"Accepting {cost}",), section.line)
    return None


def _y_parts(text: str) -> dict[str, str]:
    """The parts of a Y-statement; empty if one is missing or they are not in order."""
    at, leads = 0, list[re.Match[str]]()
    for lead in _Y_PARTS.values():
        match = re.compile(lead, re.IGNORECASE).search(text, at)
        if not match:
            return {}
        leads.append(match)
        at = match.end()
    stop = _STOP.search(text, at)
    ends = [*(match.start() for match in leads[1:]), stop.start() if stop else len(text)]
    return {name: text[match.end() : end].strip(" ,;.") for name, match, end in zip(_Y_PARTS, leads, ends)}
