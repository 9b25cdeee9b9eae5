"""What a page decides, in words that stand on their own; or why that cannot be read with certainty.

A wrong decision is worse than none: whatever is in doubt is left to an agent that reads the whole page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onrecord.importers import adr_choice, adr_options, adr_page, adr_wording
from onrecord.importers.adr_choice import Outcome
from onrecord.importers.adr_options import Option
from onrecord.markdown import Page, Section
from onrecord.text import sentences

_CHOSEN = re.compile(
    r"(?:the )?(?:choo?sen|selected|preferred|agreed) (?:option|solution|alternative|approach|proposal)(?:s|\(s\))?"
    r"(?: (?:is|are|was|were)(?= ))?\s*[:–—-]?\s*"
    r"|(?:we )?(?:have )?(?:choose|choo?sen|chose|selected?|picked|pick|decided on|go with|going with) "
    r"(?=[`(#\[]*(?:\d{1,2}|[A-Z])[`)\]])",
    re.IGNORECASE,
)
_ONLY_A_STATUS = re.compile(
    r"(?:\W*(?:accepted|approved|agreed|implemented|adopted|proposed|rejected|declined|superseded|deprecated|draft|yes|no|"
    r"done|final|go|see)\W*)+|(?:see |implemented in |done in )?(?:pr|pull request|issue|adr|https?:\S+)\W*\d*\W*",
    re.IGNORECASE,
)
_OF_SEVERAL = re.compile(r"decision\s*#?\d|\d+\W+decision", re.IGNORECASE)
_DESCRIBES = re.compile(
    r"(?:we have outlined|(?:this|the) (?:adr|document|section|page|madr)\w* "
    r"(?:outlines|describes|documents|explains|lists)|this (?:is )?(?:the|a) (?:\w+ )?draft)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\{[A-Za-z][\w,.'|/-]*\s[\w ,.'|/-]*\}|^describe\b|^\(\w+\)$|"
    r"\[(?:short|describe|insert|option|title|justification|text)[^\]]*\]|<(?:describe|insert|option|title)[^>]*>|"
    r"what is the change that we(?:'|’)re (?:proposing|actually)|description of the decision|"
    r"this section (?:describes|should)|describe (?:the|our|your) (?:decision|response)|lorem ipsum|"
    r"\bwe will \.\.\.|^\.\.\.$|^_+$|state the (?:architecture )?decision",
    re.IGNORECASE,
)
_LONGEST_TEXT = 20_000
"""Characters of a section that are looked at; a decision is stated in the first few hundred."""

_FEWEST_WORDS = 2
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


def read(page: Page) -> Outcome:
    """The outcome of the decision on a page."""
    statement = _y_statement(page)
    if statement:
        return statement
    sections = adr_page.decisions(page)
    if not sections:
        return Outcome(doubt="no section says what was decided")
    if _are_several(page, [section for section, _ in sections]):
        return Outcome(doubt="it holds several decisions", line=sections[0][0].line)
    for section, in_heading in sections:
        text = f"{in_heading.rstrip('.')}. " if in_heading else ""
        text = (text + adr_page.text_of(page, section)).strip()
        if text:
            return _outcome(page, text[:_LONGEST_TEXT])._replace(line=section.line)
    return Outcome(
        doubt="the section for the decision holds no text, or only a table or code", line=sections[0][0].line
    )


def _are_several(page: Page, sections: Sequence[Section]) -> bool:
    """Whether more than one section decides something, and none is part of another."""
    filled = [section for section in sections if adr_page.text_of(page, section)]
    first = filled[0] if filled else None
    inside = adr_page.within(page, first) if first else []
    if sum(bool(_OF_SEVERAL.match(each.title)) for each in inside) > 1:
        return True
    others = [section for section in filled if section not in inside and first not in adr_page.within(page, section)]
    # "Outcomes" and the like after a decision say what came of it.
    return any(adr_page.heading(section) not in ("outcome", "resolution", "preferred option") for section in others)


def _outcome(page: Page, text: str) -> Outcome:
    doubt = _doubt(text)
    if doubt:
        return Outcome(doubt=doubt)
    options = adr_options.listed(page)
    lead = next((match for match in [_CHOSEN.match(text)] if match and match.end() > match.start()), None)
    if lead:
        return adr_choice.read(page, text[lead.end() :], options)
    return _spelled_out(page, text, options)


def _doubt(text: str) -> str:
    bare = text.strip(" .*_:\"'[]()")
    if _DESCRIBES.match(bare):
        return "it describes, and decides nothing"
    if _PLACEHOLDER.search(text):
        return "it still holds the template's own words"
    is_asking = text.count("?") * 2 > len(sentences(text))
    is_open = adr_wording.NOTHING_YET.match(bare)
    if is_asking or (is_open and (len(bare) < adr_wording.SHORT or bare[:2].lower() in ("tb", "we", "th"))):
        return "nothing is decided yet"
    if _ONLY_A_STATUS.fullmatch(bare) or (len(bare.split()) < _FEWEST_WORDS and not _CHOSEN.match(text)):
        return "the section for the decision gives a status and no decision" if bare else "it decides nothing"
    return ""


def _spelled_out(page: Page, text: str, options: Sequence[Option]) -> Outcome:
    """The outcome of a section in free words."""
    text = adr_wording.whole(text)
    if not text:
        return Outcome(doubt="what is decided stands in a table, in code or in a picture")
    spelled = adr_options.spelled_out(text, adr_options.numbered(page, options))
    if spelled is None:
        return Outcome(doubt="it names an option by a letter or number that is not listed")
    if _CHOSEN.search(text):
        return Outcome(doubt="the option it names is not at the beginning, and may be one of several")
    if spelled == text and len(text) < adr_wording.SHORT and adr_wording.LEANS_ON_OTHER_TEXT.search(text):
        return Outcome(doubt="what it decides is described elsewhere on the page")
    if text.endswith("?") and len(text) < adr_wording.SHORT:
        return Outcome(doubt="it asks and does not decide")
    return Outcome(spelled, _reason(text))


def _reason(text: str) -> tuple[str, ...]:
    """The first reason that a text gives."""
    because = adr_wording.BECAUSE.search(text)
    if not because:
        return ()
    stop = adr_wording.STOP.search(text, because.end())
    reason = text[because.end() : stop.start() if stop else len(text)].strip(" .,")
    return (f"{reason[:1].upper()}{reason[1:]}",) if len(reason.split()) > 1 else ()


def _y_statement(page: Page) -> Outcome | None:
    """In the context of A, facing B, we decided for C and neglected D, to achieve E, accepting F."""
    for section in page.sections:
        parts = _y_parts(adr_page.joined(section.blocks)[:_LONGEST_TEXT])
        if not parts or _PLACEHOLDER.search(" ".join(parts.values())) or "<" in parts["option"]:
            continue
        option, *others = _NEGLECTED.split(parts["option"], maxsplit=1)
        cost, *reason = adr_wording.BECAUSE.split(parts["cost"], maxsplit=1)
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
    stop = adr_wording.STOP.search(text, at)
    ends = [*(match.start() for match in leads[1:]), stop.start() if stop else len(text)]
    return {name: text[match.end() : end].strip(" ,;.") for name, match, end in zip(_Y_PARTS, leads, ends)}
