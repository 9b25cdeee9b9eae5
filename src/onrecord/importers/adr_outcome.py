"""Read the outcome of a decision record: a decision that makes sense on its own, or the reason for doubt.

A wrong decision is worse than none: a page in doubt is left to an agent, which reads the whole page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onrecord.coldstart import NamedTuple
from onrecord.importers import adr_options, adr_page, quotation
from onrecord.importers.adr_options import AdrOption
from onrecord.markdown import MarkdownPage, Section
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
_MAX_SECTION_LENGTH = 20_000
"""Characters of a section that are read; a decision is stated in the first few hundred."""

_MAX_READ = 4_000
"""Characters in which a reason is looked for."""

_MIN_WORDS = 2
_Y_PARTS = {
    "context": r"\bin the context of\b",
    "concern": r"\bfacing\b",
    "option": r"\bwe (?:have )?(?:decided|chose|choose|decide)\b(?: (?:for|to use|on|to)\b)?",
    "goal": r"\b(?:in order )?to achieve\b",
    "cost": r"\baccepting\b(?: that\b| the downsides? (?:that|of)\b)?",
}
"""The words before each part of a Y-statement, in order."""

_NEGLECTED = re.compile(
    r",?\s+(?:and (?:neglected|against|rejected|not)|neglecting|over|rather than|instead of)\b", re.IGNORECASE
)
_BECAUSE = re.compile(r"\s*,?\s*\b(?:because(?: of)?|since)\b[:,]?\s*", re.IGNORECASE)
_BECAUSE_WITHIN = re.compile(r"(?<=\w)\s*,?\s+because(?: of)?[:,]?\s+", re.IGNORECASE)
_CONCEDES = re.compile(r"(?:although|though|while|whilst|if|even)\b", re.IGNORECASE)
_CHOICE_LABEL = re.compile(r"^(?:[A-Z]\d?|\d{1,2}[a-z]?)(?:\s+[-–—]+|[.):])\s+(?=\S)")
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

_LABEL = re.compile(
    rf"[`(#\[*_]*(?:{adr_options.NOUN}\s+)?#?(\d{{1,2}}|[A-Z])(?=[`)\].:;,\s*_]|$)[`)\]*_]*\s*", re.IGNORECASE
)
"""The letter or number of an option at the beginning of a text."""

_FOLLOWS = re.compile(r",?\s*(?:because(?: of)?|since|as|due to|for)\b[:,]?\s*", re.IGNORECASE)
_MODIFIED = re.compile(r"\(modified\)\s*", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "'": "'", "«": "»"}
_MAX_NAME_LENGTH = 400
"""Characters in which the end of an option's name is looked for."""

_NAME_PREFIX_LENGTH = 24
"""Characters that identify the name of an option."""

_MIN_ELABORATE_LENGTH = 80
"""Characters of an outcome that needs no description from the list of options."""


class AdrOutcome(NamedTuple):
    """The decision with its reasons and alternatives, and the reason to doubt this reading (empty: none)."""

    decision: str = ""
    reasons: tuple[str, ...] = ()
    alternatives: tuple[AdrOption, ...] = ()
    doubt: str = ""
    context: str = ""
    effects: tuple[str, ...] = ()
    line: int = 1
    is_choice: bool = False
    """True if the decision begins with the name of what was chosen."""


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
        text = f"{in_heading.rstrip('.')}. " if in_heading else ""
        own = adr_page.join_blocks(section.blocks)
        # What follows a choice under headings of its own is a plan.
        text = (text + (own if _CHOSEN.match(own) else adr_page.text_of(page, section))).strip()
        if not text and _has_parts(page, section):
            return AdrOutcome(doubt="it decides several things, each under its own heading", line=section.line)
        if text:
            return _outcome(page, text[:_MAX_SECTION_LENGTH])._replace(line=section.line)
    return AdrOutcome(
        doubt="the section for the decision has no text, or only a table or code", line=sections[0][0].line
    )


def _has_parts(page: MarkdownPage, section: Section) -> bool:
    """True if a section says nothing itself, and several of its subsections do."""
    parts = [inner for inner in adr_page.within(page, section)[1:] if adr_page.join_blocks(inner.blocks)]
    return len(parts) > 1 and not without_open_end(adr_page.join_blocks(section.blocks))


def _are_several(page: MarkdownPage, sections: Sequence[Section]) -> bool:
    """True if more than one section makes a decision, and none is part of another."""
    filled = [section for section in sections if adr_page.text_of(page, section)]
    first = filled[0] if filled else None
    inside = adr_page.within(page, first) if first else []
    if sum(bool(_NUMBERED_DECISION.match(section.title)) for section in inside) > 1:
        return True
    others = [section for section in filled if section not in inside and first not in adr_page.within(page, section)]
    # A section such as "Outcomes" after a decision describes its effects.
    return any(adr_page.heading(section) not in ("outcome", "resolution", "preferred option") for section in others)


def _outcome(page: MarkdownPage, text: str) -> AdrOutcome:
    doubt = _doubt(text)
    if doubt:
        return AdrOutcome(doubt=doubt)
    options = adr_options.read_options(page)
    lead = next((match for match in [_CHOSEN.match(text)] if match and match.end() > match.start()), None)
    if lead:
        return read_choice(page, text[lead.end() :], options)._replace(is_choice=True)
    return _read_free_text(page, text, options)


def _doubt(text: str) -> str:
    bare = text.strip(" .*_:\"'[]()")
    if _DESCRIBES.match(bare):
        return "it describes, and decides nothing"
    if _PLACEHOLDER.search(text):
        return "it still has the text of the template"
    is_asking = text.count("?") * 2 > len(sentences(text))
    is_open = _NOTHING_YET.match(bare)
    if is_asking or (is_open and (len(bare) < _SHORT_LENGTH or bare[:2].lower() in ("tb", "we", "th"))):
        return "nothing is decided yet"
    if _ONLY_A_STATUS.fullmatch(bare) or (len(bare.split()) < _MIN_WORDS and not _CHOSEN.match(text)):
        return "the section for the decision gives a status and no decision" if bare else "it decides nothing"
    return ""


def _read_free_text(page: MarkdownPage, text: str, options: Sequence[AdrOption]) -> AdrOutcome:
    """Return the outcome of a section in free text."""
    text = without_open_end(text)
    if not text:
        return AdrOutcome(doubt="the decision is in a table, in code or in a picture")
    decision = adr_options.spell_out(text, adr_options.options_by_label(page, options))
    if decision is None:
        return AdrOutcome(doubt="it names an option by a letter or number that is not listed")
    if _CHOSEN.search(text):
        return AdrOutcome(doubt="the option it names is not at the beginning, and may be one of several")
    if decision == text and len(text) < _SHORT_LENGTH and _REFERS_ELSEWHERE.search(text):
        return AdrOutcome(doubt="what it decides is described elsewhere on the page")
    if text.endswith("?") and len(text) < _SHORT_LENGTH:
        return AdrOutcome(doubt="it asks and does not decide")
    return AdrOutcome(decision, _reason(text))


def _reason(text: str) -> tuple[str, ...]:
    """Return the reason that the first sentence with "because" in its middle ends with."""
    for sentence in sentences(text[:_MAX_READ]):
        because = _BECAUSE_WITHIN.search(sentence)
        if because:
            reason = sentence[because.end() :].strip(" .,")
            is_reason = len(reason.split()) > 1 and not _CONCEDES.match(reason)
            return (f"{reason[:1].upper()}{reason[1:]}",) if is_reason else ()
    return ()


def _y_statement(page: MarkdownPage) -> AdrOutcome | None:
    """Return the outcome of a Y-statement; None if there is none.

    In the context of A, facing B, we decided for C and neglected D, to achieve E, accepting F.
    """
    for section in page.sections:
        parts = _y_parts(adr_page.join_blocks(section.blocks)[:_MAX_SECTION_LENGTH])
        if not parts or _PLACEHOLDER.search(" ".join(parts.values())) or "<" in parts["option"]:
            continue
        option, *others = _NEGLECTED.split(parts["option"], maxsplit=1)
        cost, *reason = _BECAUSE.split(parts["cost"], maxsplit=1)
        alternatives = tuple(
            AdrOption("", name.strip()) for name in re.split(r",| and | or ", "".join(others)) if name.strip()
        )
        reasons = (f"To achieve {parts['goal']}", *reason)
        context = f"{parts['context']}, facing {parts['concern']}"
        return AdrOutcome(option.strip(" ,"), reasons, alternatives, "", context, (f"Accepting {cost}",), section.line)
    return None


def _y_parts(text: str) -> dict[str, str]:
    """Return the parts of a Y-statement; empty if one is missing or they are not in order."""
    position, leads = 0, list[re.Match[str]]()
    for lead in _Y_PARTS.values():
        match = re.compile(lead, re.IGNORECASE).search(text, position)
        if not match:
            return {}
        leads.append(match)
        position = match.end()
    stop = quotation.sentence_end(text, position)
    ends = [*(match.start() for match in leads[1:]), stop.start() if stop else len(text)]
    return {name: text[match.end() : end].strip(" ,;.") for name, match, end in zip(_Y_PARTS, leads, ends)}


def without_open_end(text: str) -> str:
    """Return the text without a last clause that ends in a colon before something left out, such as code."""
    while text.endswith(":"):
        text = text[: max(text.rfind(". "), text.rfind("; "), 0)].strip()
    return text


def read_choice(page: MarkdownPage, text: str, options: Sequence[AdrOption]) -> AdrOutcome:
    """Return the outcome of "Chosen option: NAME, because REASON. More." """
    by_label = adr_options.options_by_label(page, options)
    text = _without_label(text, by_label)
    outcome = _read_by_label(text, by_label)
    if outcome:
        lost = _not_in(_others(options, outcome), outcome.decision)
        return outcome if outcome.doubt else outcome._replace(alternatives=lost)
    name, reason, rest = _split_choice(text, options)
    spelled = adr_options.spell_out(name, by_label) if name else ""
    if not spelled or _NOTHING_YET.match(name):
        return AdrOutcome(doubt=_choice_doubt(name, spelled))
    choices = _labelled_options(name, by_label) or adr_options.find_named(name, options)
    decision = _elaborate(spelled, rest, choices, by_label)
    if not choices and _REFERS_ELSEWHERE.search(name) and len(decision) < _SHORT_LENGTH:
        return AdrOutcome(doubt="what it chooses is described elsewhere on the page")
    others = [option for option in options if option not in choices] if len(choices) == 1 else []
    return AdrOutcome(decision, (reason,) if reason else (), _not_in(others, decision))


def _choice_doubt(name: str, spelled: str | None) -> str:
    if spelled is None:
        return f"it chooses {name[:60]!r}, and no option of that name is listed"
    return "nothing is decided yet" if name else "no option is named"


def _elaborate(spelled: str, rest: str, options: Sequence[AdrOption], by_label: dict[str, AdrOption]) -> str:
    """Return the name of the choice, its description from the list of options if it is short, and `rest`."""
    decision = spelled
    if len(options) == 1 and len(f"{spelled} {rest}") < _MIN_ELABORATE_LENGTH and options[0].text not in spelled:
        decision = f"{spelled}: {options[0].text}"
    if rest:
        following = adr_options.spell_out(rest, by_label)
        decision = without_open_end(f"{decision.rstrip('.')}. {rest if following is None else following}")
    return decision


def _read_by_label(text: str, by_label: dict[str, AdrOption]) -> AdrOutcome | None:
    """Return the outcome of a text that begins with the letter or number of an option, without its name."""
    label = _LABEL.match(text)
    rest = text[label.end() :] if label else ""
    if not label or (rest and rest[0] not in ".,:;" and not _FOLLOWS.match(rest)):
        return None
    option = by_label.get(label[1].upper())
    if option is None:
        return AdrOutcome(doubt=f"it chooses option {label[1]}, and no option of that name is listed")
    stop = re.match(r"[.;]\s*", rest) or quotation.sentence_end(rest)
    sentence, following = (rest[: stop.start()], rest[stop.end() :].strip()) if stop else (rest, "")
    lead = _FOLLOWS.match(sentence)
    reason = sentence[lead.end() :].strip(" .,:") if lead else ""
    spelled = adr_options.spell_out(following, by_label) if following else ""
    decision = without_open_end(f"{option.line.rstrip('.')}. {following if spelled is None else spelled}".strip())
    return AdrOutcome(decision, (f"{reason[:1].upper()}{reason[1:]}",) if len(reason.split()) > 1 else ())


def _without_label(text: str, by_label: dict[str, AdrOption]) -> str:
    """Return the text without the letter or number before the name of an option, as in "2. Standalone server"."""
    label = re.match(r"[\"“'_*]*(?:option\s+)?#?(\d{1,2}|[A-Z])[.):]\s+", text, re.IGNORECASE)
    option = by_label.get(label[1].upper()) if label else None
    if not label or not option or not text[label.end() :].lower().startswith(option.name.lower()[:_NAME_PREFIX_LENGTH]):
        return text
    opening = text[:1] if text[:1] in _QUOTES else ""
    return opening + text[label.end() :]


def _others(options: Sequence[AdrOption], outcome: AdrOutcome) -> tuple[AdrOption, ...]:
    """Return the options that were not chosen by an outcome that begins with the line of one."""
    return tuple(option for option in options if not outcome.decision.startswith(option.line.rstrip(".")))


def _split_choice(text: str, options: Sequence[AdrOption]) -> tuple[str, str, str]:
    """Return the name of the choice, the reason, and the text after them."""
    text = _MODIFIED.sub("", text, count=1)
    start = _end_of_quotation(text, options)
    stop = quotation.sentence_end(text, start)
    because = _BECAUSE.search(text, start)
    sentence = text[: stop.start()] if stop else text
    rest = text[stop.end() :].strip() if stop else ""
    if because and because.start() < len(sentence):
        name, reason = text[: because.start()], sentence[because.end() :].strip()
    else:
        name, reason = sentence, ""
    if start:
        name = f"{text[1 : start - 1].rstrip('.,')} {name[start:].strip(' ,.:')}"
    name = _CHOICE_LABEL.sub("", _without_quotes(name), count=1)
    return name, f"{reason[:1].upper()}{reason[1:]}".rstrip(" .,"), rest


def _end_of_quotation(text: str, options: Sequence[AdrOption]) -> int:
    """Return the end of a quotation at the start of the text, preferably after the name of an option; 0 for none."""
    closing = _QUOTES.get(text[:1], "")
    ends = (
        [match.end() for match in re.finditer(rf"{closing}(?=[\s,.;:()]|$)", text[1:_MAX_NAME_LENGTH])]
        if closing
        else []
    )
    names = {option.name.lower() for option in options}
    exact = [end for end in ends if text[1:end].strip(" .\"'").lower() in names]
    return (exact or ends or [-1])[0] + 1


def _without_quotes(name: str) -> str:
    """Return the name without quotes around all of it; quotes around a part are kept."""
    name = name.strip(" *,.:>")
    is_around = len(name) > 1 and name[-1] == {**_QUOTES, "`": "`"}.get(name[0]) and name.count(name[-1]) <= 2
    return name[1:-1].strip(" *,.:") if is_around else name


def _labelled_options(name: str, by_label: dict[str, AdrOption]) -> list[AdrOption]:
    """Return the options that `name` refers to by letter or number only."""
    labels = re.findall(r"(?<![\w-])(\d{1,2}|[A-Z])(?![\w-])", name)
    is_reference = bool(labels) and bool(re.match(r"#?(?:options?\s+)?#?(?:\d{1,2}|[A-Z])\b", name, re.IGNORECASE))
    options = [by_label[label] for label in labels if label in by_label] if is_reference else []
    return options if len(options) == len(labels) else []


def _not_in(options: Sequence[AdrOption], text: str) -> tuple[AdrOption, ...]:
    """Return the options whose names are not part of a text about the choice: those may not have been rejected."""
    words = adr_options.words_of(text)
    return tuple(option for option in options if option.words and not option.words <= words)
