"""Read the outcome of a decision record: a decision that makes sense on its own, or the reason for doubt.

A wrong decision is worse than none: a page in doubt is left to an agent, which reads the whole page. Nothing is put
together: the decision is the name of the option that was chosen, or a sentence of the section that decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onrecord.coldstart import NamedTuple
from onrecord.importers import adr_options, adr_page, quotation
from onrecord.importers.adr_options import AdrOption
from onrecord.importers.adr_page import Quotable
from onrecord.markdown import MarkdownPage, Section
from onrecord.record import rule_title, summary_line
from onrecord.text import cut, sentences

_CHOSEN = re.compile(
    r"(?:the )?(?:choo?sen|selected|preferred|agreed) (?:option|solution|alternative|approach|proposal)(?:s|\(s\))?"
    r"(?: (?:is|are|was|were)(?= ))?\s*[:–—-]?\s*(?=\S)",
    re.IGNORECASE,
)
_ONLY_A_STATUS = re.compile(
    r"(?:\W*(?:accepted|approved|agreed|implemented|adopted|proposed|rejected|declined|superseded|deprecated|draft|yes|no|"
    r"done|final|go|see)\W*)+|(?:see |implemented in |done in )?(?:pr|pull request|issue|adr|https?:\S+)\W*\d*\W*",
    re.IGNORECASE,
)
_NUMBERED_DECISION = re.compile(r"decision\s*#?\d|\d+\W+decision", re.IGNORECASE)
_DESCRIBES = re.compile(
    r"(?:we have outlined|(?:this|the) (?:adr|document|section|page|madr|(?:decision )?record)\w* "
    r"(?:outlines|describes|documents|explains|lists|covers|addresses|discusses|deals with|contains|is about)|"
    r"this (?:is )?(?:the|a) (?:\w+ )?draft)\b",
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
_NOTHING_YET = re.compile(
    r"(?:(?:not|to be) (?:yet )?(?:decided|determined|discussed|made)|we (?:will )?(?:still )?need to decide|"
    r"still (?:undecided|open)|there(?:'s|’s| is| are) (?:\w+ )?decisions? to (?:make|be made)|"
    r"(?:tbd|tbc|n/?a|todo|none|pending|undecided|wip)\b|no decision|"
    r"(?:this|we) (?:has|have) not (?:yet )?(?:been )?decided|decision (?:is )?pending|under discussion|in discussion)",
    re.IGNORECASE,
)
_REFERS_ELSEWHERE = re.compile(
    r"\b(?:above|below|aforementioned|as (?:described|proposed|outlined|suggested|discussed|per|stated|follows)|"
    r"(?:this|these|the|that) (?:\w+ )?(?:proposal|approach|option|solution|suggestion|rfc|plan|recommendation|"
    r"document|adr|changes?|pattern|design)s?\b|the (?:former|latter|proposed|suggested|recommended)|"
    r"(?:implement|do|adopt|accept|approve|try|use|choose|go with|proceed with|go ahead with) (?:this|it|that|these|"
    r"both|all|them)\b|status quo|do nothing|here\b)",
    re.IGNORECASE,
)
_SHORT_LENGTH = 110
"""Characters below which a text that refers to other text says nothing itself."""

_WE_DECIDE = re.compile(
    r"(?:(?:so|therefore|thus|hence),? )?(?:we|the team|the \w+ team)(?:'ve|’ve| have| has)? "
    r"(?:will|decided|chosen|chose|choose|select|agreed|opted|are going to|shall|should|introduce|add|adopt|replace|"
    r"remove|drop)"
    r"\b|the decision is to\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that says a decision, whatever was said before it."""

_DISCUSSES = re.compile(
    r"(?:we|the team) (?:will|shall|should|decided to|have decided to|agreed to) (?:discuss|describe|outline|explore|"
    r"consider|investigate|evaluate|look|document|explain|present|list|see|revisit|think|try)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that decides nothing yet, or is about the page."""

_RULES = re.compile(r"\b(?:will|shall|must|should|henceforth)\b", re.IGNORECASE)

_LEADS_UP = re.compile(
    r"(?:although|though|while|whilst|given|after|currently|in order|there (?:is|are|were|was)|as|since|when|"
    r"historically|previously|initially|today|originally|(?:it|this) is|"
    r"(?:the|our) (?:\w+ )?(?:aims?|goals?|ideas?|purpose|intent(?:ion)?|objectives?|motivation|question|problem|"
    r"issue)\b|"
    r"[\w `()./-]{2,60}? (?:is|are) (?:an?|one of)\b)\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that leads up to a decision, or says what something is."""

_SAYS_HOW_IT_IS = re.compile(
    rf"^{_LEADS_UP.pattern}|\b(?:currently|presently|at the moment|need to|needs? a)\b", re.IGNORECASE
)
_AS_BEFORE = re.compile(
    r"\b(?:what we (?:already )?(?:have|do)|status quo|do nothing|no changes?|as[- ]is|"
    r"(?:current|existing) (?:approach|solution|setup|situation|behaviou?r|state|way|implementation|process))\b"
    r"[^.]{0,20}\W*$",
    re.IGNORECASE,
)
"""The end of a decision to leave things as they are, which only the page describes."""

_Y_STATEMENT = re.compile(
    r"in the context of\b.{3,300}?\bfacing\b.{3,300}?\bwe (?:have )?(?:decided|chose|choose|decide)\b.{3,300}?"
    r"\b((?:in order )?to achieve\b.{3,300}?),?\s+accepting\b",
    re.IGNORECASE | re.DOTALL,
)
"""In the context of A, facing B, we decided for C and neglected D, to achieve E, accepting F."""

_BECAUSE = re.compile(r"\s*,?\s*\bbecause(?: of)?\b[:,]?\s*", re.IGNORECASE)
_REASON = re.compile(r",?\s*\bbecause\b|,\s*(?:since|as|due to)\b", re.IGNORECASE)
_CONCEDES = re.compile(r"(?:although|though|while|whilst|if|even)\b", re.IGNORECASE)
_IT = re.compile(r"It\b")
_QUOTES = {'"': '"', "“": "”", "'": "'", "«": "»"}
_NUMBER_OF_NAME = re.compile(r"[(\[]?(?:\d{1,2}|[A-Z])[.)\]]\s+(?=\w)")
_MAX_NAME_LENGTH = 400
"""Characters in which the end of an option's name is looked for."""

_AFTER_NAME = re.compile(rf"\s*(?:[.;](?:\s|$)|$)|{_REASON.pattern}", re.IGNORECASE)
"""What follows the name of a choice that is no part of it."""

_MAX_READ = 4_000
"""Characters of a text that are read; a decision is stated in the first few hundred."""

_MAX_FOLLOWING = 3
"""Sentences behind a decision that may limit it."""

_MAX_QUOTED_LENGTH = 40
_MIN_WORDS = 2


class AdrOutcome(NamedTuple):
    """The decision with its reason and alternatives, and the reason to doubt this reading (empty: none)."""

    decision: str = ""
    reason: str = ""
    alternatives: tuple[AdrOption, ...] = ()
    doubt: str = ""
    line: int = 1
    notes: tuple[str, ...] = ()
    """What is not in it, and why."""


def read(page: MarkdownPage) -> AdrOutcome:
    """Return the outcome of the decision on a page; its `doubt` says why there is none."""
    statement = _y_statement(page)
    if statement:
        return statement
    sections = adr_page.decisions(page)
    if not sections:
        return AdrOutcome(doubt="no English heading, such as Decision, says what was decided")
    if _are_several(page, [section for section, _ in sections]):
        return AdrOutcome(doubt="it has several decisions", line=sections[0][0].line)
    for section, in_heading in sections:
        parts = adr_page.decision_parts(page, section)
        if in_heading and _is_stated(page, in_heading):
            return _chosen(page, in_heading.rstrip("."), "", ())._replace(line=section.line)
        if any(part.kind != "figure" for part in parts):
            return _outcome(page, parts)._replace(line=section.line)
        if _has_parts(page, section):
            return AdrOutcome(doubt="it decides several things, each under its own heading", line=section.line)
    return AdrOutcome(
        doubt="the section for the decision has no text, or only a table or code", line=sections[0][0].line
    )


def _is_stated(page: MarkdownPage, heading: str) -> bool:
    """True if a heading names an option or says what to do, and is not only the name of a topic."""
    return bool(adr_options.named(heading, adr_options.read_options(page))) or rule_title.states_a_rule(heading)


def _has_parts(page: MarkdownPage, section: Section) -> bool:
    """True if several of the subsections of a section have text."""
    return sum(bool(adr_page.quotables(inner.blocks)) for inner in adr_page.within(page, section)[1:]) > 1


def _are_several(page: MarkdownPage, sections: Sequence[Section]) -> bool:
    """True if more than one section makes a decision, and none is part of another."""
    filled = [section for section in sections if adr_page.decision_parts(page, section)]
    first = filled[0] if filled else None
    inside = adr_page.within(page, first) if first else []
    if sum(bool(_NUMBERED_DECISION.match(section.title)) for section in inside) > 1:
        return True
    others = [section for section in filled if section not in inside and first not in adr_page.within(page, section)]
    # A section such as "Outcomes" after a decision describes its effects.
    return any(adr_page.heading(section) not in ("outcome", "resolution", "preferred option") for section in others)


def _outcome(page: MarkdownPage, text_parts: Sequence[Quotable]) -> AdrOutcome:
    first = text_parts[0]
    doubt = _doubt(first.text, " ".join(part.text for part in text_parts))
    if doubt:
        return AdrOutcome(doubt=doubt)
    choice = _CHOSEN.match(first.text)
    if sum(bool(_CHOSEN.search(part.text)) for part in text_parts) > bool(choice):
        return AdrOutcome(doubt="the option it names is not at the beginning, and may be one of several")
    if first.kind == "figure" or (first.flaw and first.kind == "item"):
        return AdrOutcome(doubt=f"its decision cannot be quoted: {first.flaw or 'it begins with a table or code'}")
    if choice:
        return _read_choice(page, first, first.text[choice.end() :])
    if first.flaw or first.label:
        return AdrOutcome(doubt=f"its decision cannot be quoted: {first.flaw or 'it begins with a label'}")
    return _read_free_text(first, text_parts[1:])


def _doubt(text: str, all_text: str) -> str:
    bare = text.strip(" .*_:\"'[]()")
    if _DESCRIBES.match(bare):
        return "it describes, and decides nothing"
    if _PLACEHOLDER.search(all_text[:_MAX_READ]):
        return "it still has the text of the template"
    is_asking = text.count("?") * 2 > len(sentences(text[:_MAX_READ]))
    is_open = _NOTHING_YET.match(bare)
    if is_asking or (is_open and (len(bare) < _SHORT_LENGTH or bare[:2].lower() in ("tb", "we", "th"))):
        return "nothing is decided yet"
    if _ONLY_A_STATUS.fullmatch(bare) or (len(bare.split()) < _MIN_WORDS and not _CHOSEN.match(text)):
        return "the section for the decision gives a status and no decision" if bare else "it decides nothing"
    return ""


def _read_free_text(text_part: Quotable, others: Sequence[Quotable]) -> AdrOutcome:
    """Return the sentence that decides: the first, or one that says so, and those that go on with deciding."""
    if text_part.kind == "item" and any(part.kind == "item" for part in others):
        return AdrOutcome(doubt="it decides several things, each in an item of a list")
    parts = quotation.whole_sentences(text_part.text[:_MAX_READ])
    parts = parts[:-1] if text_part.is_open else parts
    start = _decisive(parts[: quotation.MAX_TRIED], is_whole=text_part.kind == "paragraph" and not text_part.is_open)
    if start is None:
        is_cut = (
            "goes on in a list, a table or code"
            if text_part.is_open and not parts
            else "does not begin with what is decided"
        )
        return AdrOutcome(doubt=f"its decision {is_cut}")
    decision = parts[start]
    flaw = quotation.strict_flaw(decision, summary_line.MAX_CHARACTERS)
    if flaw:
        return AdrOutcome(doubt=f"its decision cannot be quoted: {flaw}")
    if len(decision) < _SHORT_LENGTH and _REFERS_ELSEWHERE.search(decision):
        return AdrOutcome(doubt="what it decides is described elsewhere on the page")
    decision = _going_on(parts[start:])
    following = [
        *quotation.whole_sentences(" ".join(parts[start:]).removeprefix(decision)),
        *(quotation.whole_sentences(part.text[:_MAX_READ])[0] for part in others if part.text),
    ]
    return _checked(decision, following)


def _going_on(parts: Sequence[str]) -> str:
    """Return the first sentence and those behind it that go on with deciding, as far as each can be read alone."""
    text = parts[0]
    for part in parts[1:]:
        longer = f"{text} {part}"
        if not _WE_DECIDE.match(part) or quotation.strict_flaw(part, summary_line.MAX_CHARACTERS - len(text) - 1):
            break
        text = longer
    return text


def _decisive(parts: Sequence[str], *, is_whole: bool) -> int | None:
    """Return the position of the sentence that decides: the first or only one, or one that says so; None for none."""
    if parts and (
        _is_decided(parts[0])
        or (is_whole and len(parts) == 1 and not _SAYS_HOW_IT_IS.search(parts[0]) and not _DISCUSSES.match(parts[0]))
    ):
        return 0
    return next((number for number, part in enumerate(parts) if _WE_DECIDE.match(part) and _is_decided(part)), None)


def _is_decided(sentence: str) -> bool:
    if _DISCUSSES.match(sentence):
        return False
    is_rule = rule_title.decides(sentence) or _RULES.search(sentence)
    return bool(_WE_DECIDE.match(sentence) or (is_rule and not _LEADS_UP.match(sentence)))


def _checked(decision: str, later_sentences: Sequence[str]) -> AdrOutcome:
    """Return a decision in a sentence; a doubt if it is to leave things as they are, or if what follows limits it."""
    if _AS_BEFORE.search(decision):
        return AdrOutcome(doubt="it leaves things as they are, which only the page describes")
    if any(map(quotation.takes_back, later_sentences[:_MAX_FOLLOWING])):
        return AdrOutcome(doubt="its decision goes on with an exception")
    notes = (
        (f"the decision from {cut(later_sentences[0], _MAX_QUOTED_LENGTH)!r} on ({quotation.ENOUGH})",)
        if later_sentences
        else ()
    )
    because = list(_BECAUSE.finditer(decision))
    reason = _reason(decision[because[0].end() :]) if len(because) == 1 and because[0].start() else ""
    return AdrOutcome(decision, reason, notes=notes)


def _reason(clause: str) -> str:
    """Return a clause behind "because" as a sentence; empty if it cannot be read alone."""
    clause = clause.strip(" .,")
    reason = f"{clause[:1].upper()}{clause[1:]}"
    is_plain = len(reason.split()) > 1 and not _CONCEDES.match(reason) and ": " not in reason
    return reason if is_plain and not quotation.sentence_flaw(_IT.sub("The choice", reason, count=1)) else ""


def _y_statement(page: MarkdownPage) -> AdrOutcome | None:
    """Return the outcome of a Y-statement in a sentence of its own; None if there is none."""
    for section in page.sections:
        for part in adr_page.quotables(section.blocks):
            match = _Y_STATEMENT.match(part.text[:_MAX_READ])
            if match and not part.flaw and len(quotation.whole_sentences(part.text)) == 1 and not part.is_open:
                goal = match[1]
                return AdrOutcome(part.text, f"{goal[:1].upper()}{goal[1:]}", line=section.line)
    return None


def _read_choice(page: MarkdownPage, text_part: Quotable, text: str) -> AdrOutcome:
    """Return the outcome of "Chosen option: NAME, because REASON. More." """
    name, tail = _split_name(text)
    is_quoted = text[:1] in _QUOTES
    if not name or not _AFTER_NAME.match(tail) or (text_part.flaw and not is_quoted):
        return AdrOutcome(doubt="what it chooses is more than the name of an option")
    because = _BECAUSE.match(tail)
    parts = quotation.whole_sentences(tail[because.end() if because else 0 :].lstrip(" .;,"))
    is_cut = bool(text_part.flaw) or (text_part.is_open and len(parts) == 1)
    reason = _reason(parts[0]) if because and parts and not is_cut else ""
    return _chosen(page, name, reason, parts[1:] if because or _REASON.match(tail) else parts)


def _split_name(text: str) -> tuple[str, str]:
    """Return the name that a choice begins with, in quotes or up to reason or full stop, and the rest."""
    closing = _QUOTES.get(text[:1], "")
    if closing:
        end = re.compile(rf"{re.escape(closing)}(?=[\s,.;:()]|$)").search(text[:_MAX_NAME_LENGTH], 1)
        return (text[1 : end.start()].strip(), text[end.end() :]) if end else ("", "")
    label = _NUMBER_OF_NAME.match(text)
    stop = quotation.sentence_end(text, label.end() if label else 0)
    because = _REASON.search(text, 1)
    end_of_name = min(stop.start() if stop else len(text), because.start() if because else len(text))
    return text[:end_of_name].strip(), text[end_of_name:]


def _chosen(page: MarkdownPage, name: str, reason: str, later_sentences: Sequence[str]) -> AdrOutcome:
    """Return the outcome of a choice by name, by letter or by number, with the other options of its list."""
    options = adr_options.read_options(page)
    option, parsed = adr_options.named(name, options), adr_options.parse(name)
    is_other = bool(parsed.label) and any(other.label == parsed.label and other != option for other in options)
    decision = option.name if option else parsed.name
    if _NOTHING_YET.match(decision):
        return AdrOutcome(doubt="nothing is decided yet")
    if is_other or adr_options.is_label(decision):
        return AdrOutcome(doubt=f"it chooses {cut(name, _MAX_QUOTED_LENGTH)!r}, and no option of that name is listed")
    flaw = quotation.name_flaw(decision) or (quotation.TOO_LONG if len(decision) > summary_line.MAX_CHARACTERS else "")
    if flaw:
        return AdrOutcome(doubt=f"its decision cannot be quoted: {flaw}")
    if not option and _REFERS_ELSEWHERE.search(decision):
        return AdrOutcome(doubt="what it chooses is described elsewhere on the page")
    outcome = _checked(decision, later_sentences)
    others = tuple(other for other in options if option and other != option)
    notes = (
        ("the alternatives: no option of the list has the name of what was chosen",) if options and not option else ()
    )
    return outcome._replace(reason=reason, alternatives=others, notes=(*outcome.notes, *notes))
