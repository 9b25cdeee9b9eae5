"""Quote a page: the few sentences at the beginning of a text that can each be read alone, or none.

A draft is read without its page. A sentence that is garbled there, or that needs the rest of the page, is left out; no
sentence is cut. One right sentence is better than five of which one is wrong, so few are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from onrecord.audit import hard_to_find
from onrecord.coldstart import NamedTuple
from onrecord.text import sentences

TOO_LONG = "it is too long"
ENOUGH = "a draft is short"
OPEN_END = "…"
"""The mark that a reader of pages puts where a block stops before what it goes on with: a list, code, a nested item."""

_MAX_READ = 4_000
"""Characters of a text that are read: several times what any field of a draft has room for."""

_MIN_WORDS = 2
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|eg|ie|cf|ca|no|nos|fig|vs|resp|incl|excl|esp|inc|ltd|dr|mr|mrs|ms|st|ver|v|p|pp|"
    r"approx|est|min|max|ex|al|etc|sec|ch|vol|al|dept|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)\.$",
    re.IGNORECASE,
)
"""The end of a part after which the sentence goes on: an abbreviation, or a single letter."""

_MARK = re.compile(rf"[.!{OPEN_END}](?:\s+|$)")
_BAD_START = re.compile(r"[^\w\"'“‘`\[$@/.#~<≤≥✅]|\.(?!\w)|(?:and|or|but|which|because)\b", re.IGNORECASE)
_BAD_END = re.compile(
    r"(?:[:,;–—-]|…|\.\.)$|\b(?:the|a|an|of|and|or|to|with|by|as|for|in|is|are|because|via|e\.g|i\.e|like|that|using|than|"
    r"into|from|such|our|their|its|be|which|where|when|if|but)\W*$"
)
_MARKUP = re.compile(
    r"</?[a-z!][^<>]*>|<[-=→]|\((?:source|link|refs?|references?|docs?|docs? link|more info|examples?)\)|"
    r"&\w{2,8};|~~|\]\(|\]\[|\[\^|\|.*\||\\[_*`#]|!\[|:::|---|={3,}|\*\*|__|^#+\s|```|\{[{%]|[{%]\}|\$\$|"
    r"^\s*\*|\s\*\s|\w\*(?!\w)|(?<!\w)\*\w|(?<!\w)_\w[^_]*\s|(?<![\w`])`\W{1,2}`|\b[A-Z][A-Z_]+=\w+ \w|^\[[ xX]?\]",
    re.IGNORECASE,
)
_CODE = re.compile(r"`[^`\n]*[A-Za-z]{2}[^`\n]*`")
_CODE_ALONE = re.compile(r"(?:\w+:\s*)?`")
_SPLICED = re.compile(
    r"[,;:]\s*[.;,:!?](?!\w)|\.;|;\s*$|\b(?:will|to|be|are|is|the|a|of); |"
    rf"\(\s*\)|\[\s*\]|\"\"|\s\.(?:\s|$)|[!?]\s*;|:\s*\d+\.?\s*$|\s\d{{1,2}}[.)]\s+[A-Z]|{OPEN_END}"
)
"""Marks that meet where pieces of a page were put together, and numbers of a list that lost its lines."""

_PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|TBC|WIP|FIXME|XXX|lorem ipsum)\b|\{[A-Za-z][^{}]*\s[^{}]*\}|<[a-z][a-z -]* [a-z -]*>|"
    r"\[(?:insert|describe|option|title|name)\b[^\]]*\]|\[[\w ]+ \| [\w ]+\]|^context and problem statement\b"
)
NOUN = r"(?:option|alternative|approach|solution|proposal|variant|scenario|choice|strategy|candidate)"
_LABEL = re.compile(
    rf"\[?\b{NOUN}s?\s+[`(#\"“]*(?:\d{{1,2}}[a-z]?|[A-Z]\d?|I{{1,3}}|IV)\b(?!\s*\(\"?\w\w)|[`\[]\(?(?:\d{{1,2}}|[A-Z])\)?[`\]]|"
    rf"(?:^|\s)\(?(?:\d{{1,2}}|[A-Z])\)(?=[\s,.;:]|$)|\b(?:first|second|third|fourth|last|former|latter)\s+{NOUN}\b|"
    r"\bthe (?:former|latter)\b|"
    r"\b(?:between|either|both|of|balance|and|or) \d\b[.)]?(?= (?:and|or) |\W*$)",
    re.IGNORECASE,
)
"""An option by its letter, number or place, which only its page explains."""

_SOURCE = (
    r"(?:pull request|pr|issue|link|document|doc|documentation|spreadsheet|diagrams?|figure|image|screenshot|picture|"
    r"rfc|discussion|page|articles?|blog|post|ticket|repo|commit|comment|table|adr|section|example|snippet|list|thread|"
    r"proposal|proposed solution|recording|video|chart|graph)"
)
_POINTING_VERB = (
    r"(?:see|refer to|check|read|view|documented|described|available|found|outlined|detailed|explained|discussed|"
    r"defined|more|done|seen|listed|published|started)"
)
_BEFORE_ABOVE = (
    r"(?:listed|described|mentioned|outlined|shown|given|stated|detailed|discussed|proposed|defined|noted|the|see|as|from|"
    r"options?|list|reasons?|approach|diagram|it|them|set out|explained|considered|presented|written|seen)"
)
_NOTE = (
    r"(?:see|cf\.?|source|note|edit|updated?|example|e\.g\.|i\.e\.|refs?|links?|references?|todo|image|diagram|figure)"
)
_ELSEWHERE = re.compile(
    r"\b(?:this|these|that|the|linked|attached) (?:\w+ )?"
    r"(?:diagram|figure|image|screenshot|picture|table|snippet|chart)s?\b"
    rf"|\b(?:this|these) (?:{_SOURCE}|lines?|code|files?|commands?|settings?)\b"
    rf"|\b{_POINTING_VERB} (?:\w+ )?here\b|\bhere\b"
    r"|\b(?:the|as|in the) follow(?:ing|s)\b(?!.*[:;])|\bas follows\b(?!.*:\s*\w)"
    rf"|\b{_BEFORE_ABOVE} (?:above|below)\b|\bthe (?:\w+ )?\w+ (?:above|below)\b|\btake a look\b"
    r"|\b(?:above|below)(?:[.,;:)]|$)|^(?:above|below)\b"
    r"|\baforementioned\b|\bearlier in this\b"
    r"|\b(?:previous|next|last) (?:section|paragraph|point|step|example|chapter|list)\b"
    rf"|^\W*{_NOTE}\b\s*(?:also|the|this)?\b[:\s]",
    re.IGNORECASE,
)
"""Words that point to another place of the page, or to what was linked there."""

_LEANS = re.compile(
    r"(?:it|its|this|these|they|their|that|those|both|such|there|here|he|she|then|also|otherwise|however|instead|so|thus|"
    r"therefore|hence|additionally|furthermore|moreover|similarly|likewise|finally|but|and|or|meanwhile|consequently|"
    r"conversely|second(?:ly)?|third(?:ly)?|another|other|others|"
    r"for (?:example|instance|that reason|this reason|now)|namely|in (?:contrast|addition|particular|this way|turn|"
    r"short|other words|that case|both cases)|on the other hand|as a (?:result|consequence)|examples?|that said|"
    r"by doing so|to do so|at the same time|further|"
    r"for that\b|(?:\S+ ){0,2}(?:it|its|they|them|their)\b"
    r"(?! (?:is|was|will be|has been|would be|seems|can be)(?: \w+){1,2} (?:to|that)\b)|"
    r"the (?:approach|solution|target|changes?|idea|option|proposal|alternative|method|technique|pattern|feature|"
    r"mechanism|tool|library|framework|plan|goal|concern|(?:main |biggest )?(?:dis)?advantages?)\b|"
    r"alternatively|unlike|similar to|in comparison|again|next|first(?:ly)?|last(?:ly)?|besides|yet|still|nevertheless|"
    r"nonetheless|even so|so far|doing so|otherwise|rather|indeed|of course|luckily|fortunately|unfortunately|overall|"
    r"ultimately|accordingly|"
    r"eventually|given that|with that|after that|until then|due to (?:this|that)|"
    r"(?:currently|now|today|at the moment|for now|if|when|as|since|because|while|although|though|after|once),? "
    r"(?:it|they|this|these)\b(?! (?:is|was|will be|has been|would be|seems)(?: \w+){1,2} (?:to|that)\b)|"
    r"the (?:same|other|others|rest|second|third|latter|former|above|following|result|reason|problem|issue|drawback|"
    r"downside|benefit|first))\b",
    re.IGNORECASE,
)
"""A beginning that says nothing without what stands before it."""

_OF_PAGE = (
    r"(?:adr|decision|record|document|repo(?:sitory)?|project|app(?:lication)?|service|site|codebase|team|organi[sz]ation|"
    r"year|month|week|quarter|sprint|time|moment|point|day|morning|way that|library|package|product|platform|module|"
    r"programme|program)s?"
)
_DANGLES = re.compile(
    rf"\b(?:this|these|those)\b(?! (?:\w+ )?{_OF_PAGE}\b)(?! who\b)|(?<!\bas )\bsuch an? \w+|\bas such\b|"
    rf"\b(?:both|either|neither)(?: of)?(?: the| these)? {NOUN}s\b|\b(?:both|neither) (?:are|is|have|has|of them)\b|"
    rf"\b(?:the|one|all|none|any|most|some) (?:of the |other |two |three |remaining |various |listed )+{NOUN}s?\b|"
    rf"\b(?:the )?(?:other|remaining) {NOUN}s?\b|\bthe (?:other|same) (?:one|two|reasons?|problems?)\b|"
    r"\bthat (?:point|time|moment|decision|case|reason|date|approach|option|change)\b|^[^,;:]{0,40}\balso\b|"
    r",? (?:in contrast|however|therefore|on the other hand|instead|though|too)[,.]|^(?:especially|particularly|"
    r"(?:more|most) importantly|importantly)\b|\b(?:decision drivers|considered options|pros and cons)\b|"
    r"\b(?:first|second|third)(?: and| or|,) (?:first|second|third|fourth)\b|"
    r"\b(?:he|she)\b|\bas (?:mentioned|described|discussed|noted|stated|outlined|explained|detailed|listed|shown)\b|"
    r"\b(?:mentioned|described|discussed|listed|outlined) (?:earlier|before|previously|already)\b|"
    r"^(?:user stor(?:y|ies)|stor(?:y|ies)|note|update|edit|ticket|issue|jira|epic|context|problem|problem statement|"
    r"background|summary|decision|outcome|status|reasons?|rationale|justification|propos(?:ed|al)|pros?|cons?|goals?|example|question|answer)\b[^:]{0,20}:",
    re.IGNORECASE,
)
"""A word whose meaning stands in another sentence, and a label that belongs to the form of the page."""

_EXCEPTS = re.compile(
    r"(?:however|but|except|unless|only|otherwise|until|to be (?:confirmed|decided|discussed))\b", re.IGNORECASE
)
_TAKES_BACK = re.compile(
    r"\b(?:another adr|future adr|separate adr|for now|not yet|later|deferred|postponed|out of scope|in the future|"
    r"temporar(?:y|ily)|reverted)\b",
    re.IGNORECASE,
)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))


class Quotation(NamedTuple):
    """The sentences of a text that were taken, and what was left out."""

    text: str
    rest: tuple[str, ...] = ()
    """The sentences that were left out: those after the first that cannot be read alone or has no room."""

    flaw: str = ""
    """Why the first of them was left out."""

    @property
    def is_cut_at_an_exception(self) -> bool:
        """True if what was left out begins by limiting what was taken, or by putting it off."""
        following = self.rest[0] if self.text and self.rest else ""
        return bool(_EXCEPTS.match(following) or (_LEANS.match(following) and _TAKES_BACK.search(following)))


def beginning(text: str, max_characters: int, goes_on: Callable[[str], bool] = bool) -> Quotation:
    """Return the sentences at the beginning of a text that can each be read alone and fit; one is never cut.

    The first that does not go on with what is said, by `goes_on`, ends the quotation.
    """
    parts = whole_sentences(text[:_MAX_READ])
    taken: list[str] = []
    for position, sentence in enumerate(parts):
        is_long = sum(map(len, taken)) + len(taken) + len(sentence) > max_characters
        flaw = TOO_LONG if is_long and len(sentence) > max_characters else sentence_flaw(sentence)
        flaw = (
            flaw
            or (position and _label_flaw(sentence))
            or (TOO_LONG if is_long else ENOUGH if taken and not goes_on(sentence) else "")
        )
        if flaw:
            return Quotation(" ".join(taken), tuple(parts[position:]), flaw)
        taken.append(sentence)
    return Quotation(" ".join(taken))


_LABELLED = re.compile(r"[A-Z][\w-]*(?: [\w-]+){0,3}: ")


def _label_flaw(sentence: str) -> str:
    return "it has a label" if _LABELLED.match(sentence) else ""


MAX_TRIED = 4
"""Sentences at the beginning of a text among which one that can be read alone is looked for."""


def one_sentence(text: str, max_characters: int) -> Quotation:
    """Return the first sentence of the beginning of a text that can be read alone."""
    parts = whole_sentences(text[:_MAX_READ])
    flaws = [
        TOO_LONG if len(part) > max_characters else sentence_flaw(part) or _label_flaw(part)
        for part in parts[:MAX_TRIED]
    ]
    taken = next((number for number, flaw in enumerate(flaws) if not flaw), None)
    if taken is None:
        return Quotation("", tuple(parts), next(iter(flaws), ""))
    rest = (*parts[:taken], *parts[taken + 1 :])
    return Quotation(parts[taken], rest, flaws[0] or (ENOUGH if rest else ""))


_MIN_ITEM_WORDS = 4
"""Words from which on an item says something; "Job retries" is a topic."""

_NEXT_PIECE = re.compile(r"; (?=[A-Z])")
"""Where an item of a list was joined to the one before it."""

_ASKS = re.compile(r"(?:how|what|which|why|whether|who|where|should|shall|can we|do we)\b", re.IGNORECASE)
_ABOUT_DECISION = re.compile(r"It\b")
_WAS = re.compile(
    r"\b(?:previously|currently|had been|used to|until now|at the moment|historically|in the past|so far|originally)\b",
    re.IGNORECASE,
)


_LABEL_ALONE = re.compile(
    r"[\"“]?(?:[A-Z][\w-]*|of|at|the|and|for|in|to)(?: (?:[A-Z][\w-]*|of|at|the|and|for|in|to)){0,4}[\"”:]?"
)
"""An item in the form of a heading."""

_SAYS_NONE = re.compile(
    r"(?:none|n/?a|nothing|not applicable|no (?:\w+ )?(?:consequence|effect|impact|change|implication|drawback|"
    r"downside|disadvantage|negative|positive|risk)s?)\b.{0,30}",
    re.IGNORECASE,
)
"""An item that says that a list has none."""


def item(text: str, max_characters: int) -> Quotation:
    """Return a sentence of an item of a list, or of a paragraph with reasons, that can be read alone."""
    text = _NEXT_PIECE.split(text[:_MAX_READ], maxsplit=1)[0]
    flaw = _item_flaw(text)
    return Quotation("", (text,), flaw) if flaw else one_sentence(text, max_characters)


def because(text: str, max_characters: int) -> Quotation:
    """Return the first sentence of a reason that stood behind the decision, which "it" is about."""
    text = _NEXT_PIECE.split(text[:_MAX_READ], maxsplit=1)[0]
    first = next(iter(whole_sentences(text)), "")
    flaw = sentence_flaw(_ABOUT_DECISION.sub("The choice", first)) or (TOO_LONG if len(first) > max_characters else "")
    return Quotation("", (text,), flaw) if flaw else Quotation(first)


def effect(text: str, max_characters: int) -> Quotation:
    """Return the first sentence of a consequence, if it can be read alone and does not say how things were."""
    text = _NEXT_PIECE.split(text[:_MAX_READ], maxsplit=1)[0]
    flaw = _item_flaw(text)
    quoted = Quotation("", (text,), flaw) if flaw else beginning(text, max_characters, no_more)
    return Quotation("", (text,), "it says how things were") if _WAS.search(quoted.text) else quoted


def _item_flaw(text: str) -> str:
    if len(text.split()) < _MIN_ITEM_WORDS or _LABEL_ALONE.fullmatch(text):
        return "it is a label"
    return "it says that there are none" if _SAYS_NONE.fullmatch(text) else ""


def no_more(_: str) -> bool:
    """Return False: no sentence goes on with the first."""
    return False


def name_flaw(name: str) -> str:
    """Return why the name of an option cannot stand alone; empty if it can."""
    name = name[:_MAX_READ]
    if not re.search(r"[^\W\d_]{2}", name):
        return "it has no letters"
    if len(whole_sentences(name)) > 1:
        return "it has several sentences"
    return _form_flaw(name) or ("it names no option" if _LABEL.search(name) or _ELSEWHERE.search(name) else "")


def sentence_flaw(sentence: str) -> str:
    """Return why a sentence cannot be read away from its page; empty if it can."""
    sentence = sentence[:_MAX_READ]
    if len(re.findall(r"[^\W\d_]{2,}", sentence)) < _MIN_WORDS and not re.fullmatch(r"[\w .`\"'+/#@()-]+", sentence):
        return "it has no words"
    flaw = _form_flaw(sentence)
    if flaw:
        return flaw
    if (
        "`" in sentence
        and len(re.findall(r"[^\W\d_]{2,}", _CODE.sub("", sentence))) < _MIN_WORDS
        and _CODE_ALONE.match(sentence)
    ):
        return "it is code"
    sentence = _CODE.sub("`code`", sentence)
    if _LABEL.search(sentence):
        return "it names an option by its letter, number or place"
    if sentence.endswith("?") or _ASKS.match(sentence):
        return "it asks"
    if _ELSEWHERE.search(sentence) or hard_to_find.phrases_in([sentence]):
        return "it points to another place"
    return "it needs what stands before it" if _LEANS.match(sentence) or _DANGLES.search(sentence) else ""


def _form_flaw(text: str) -> str:
    """Return what is wrong with the form of a text: its beginning, its end, its marks."""
    if not re.search(r"[^\W\d_]", text):
        return "it has no letters"
    if _BAD_START.match(text):
        return "it begins in the middle of a sentence"
    if _BAD_END.search(text):
        return "it has no end"
    text = _CODE.sub("`code`", text)
    if _MARKUP.search(text) or _SPLICED.search(text):
        return "it is not plain text"
    if _PLACEHOLDER.search(text):
        return "it is not finished"
    is_open = any(text.count(opening) != text.count(closing) for opening, closing in _PAIRS)
    return "it is not complete" if is_open or text.count("`") % 2 or text.count('"') % 2 else ""


def sentence_end(text: str, start: int = 0) -> re.Match[str] | None:
    """Return the mark that ends the first sentence behind `start`, with the space behind it; None if none does."""
    for mark in _MARK.finditer(text, start):
        following = text[mark.end() : mark.end() + 1]
        if not following or not (
            following.islower() or _ABBREVIATED.search(text[max(start, mark.start() - 12) : mark.start() + 1])
        ):
            return mark
    return None


def whole_sentences(text: str) -> list[str]:
    """Return the sentences of a text; one that was split after an abbreviation, or goes on in lower case, is whole."""
    whole: list[str] = []
    for part in sentences(" ".join(text.split())):
        if whole and (_ABBREVIATED.search(whole[-1]) or part[0].islower() or part[0] in ",)"):
            whole[-1] = f"{whole[-1]} {part}"
        else:
            whole.append(part)
    return whole
