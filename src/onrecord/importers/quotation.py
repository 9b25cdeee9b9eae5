"""Quote a page: the few sentences at the beginning of a text that can each be read alone, or none.

A draft is read without its page. A sentence that is garbled there, or that needs the rest of the page, is left out; no
sentence is cut. One right sentence is better than five of which one is wrong, so few are taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onrecord.audit import hard_to_find
from onrecord.coldstart import NamedTuple
from onrecord.text import sentences

TOO_LONG = "it is too long"
ENOUGH = "a draft is short"

_MAX_READ = 4_000
"""Characters of a text that are read: several times what any field of a draft has room for."""

_MIN_WORDS = 2
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|eg|ie|cf|ca|no|nos|fig|vs|resp|incl|excl|esp|inc|ltd|dr|mr|mrs|ms|st|ver|v|p|pp|"
    r"approx|est|min|max|ex|al|etc|sec|ch|vol|al|dept|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)\.$",
    re.IGNORECASE,
)
"""The end of a part after which the sentence goes on: an abbreviation, or a single letter."""

_MARK = re.compile(r"[.!](?:\s+|$)")
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
_CODE_SPAN = re.compile(r"`[^`\n]+`")
_CODE_ALONE = re.compile(r"(?:\w+:\s*)?`")
_SPLICED = re.compile(
    r"[,;:]\s*[.;,:!?](?!\w)|\.;|;\s*$|\b(?:will|to|be|are|is|the|a|of); |"
    r"\(\s*\)|\[\s*\]|\"\"|\s\.(?:\s|$)|[!?]\s*;|:\s*\d+\.?\s*$|\s\d{1,2}[.)]\s+[A-Z]|…"
)
"""Marks that meet where pieces of a page were put together, and numbers of a list that lost its lines."""

_PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|TBC|WIP|FIXME|XXX|lorem ipsum)\b|\{[A-Za-z][^{}]*\s[^{}]*\}|<[a-z][a-z -]* [a-z -]*>|"
    r"\[(?:insert|describe|option|title|name)\b[^\]]*\]|\[[\w ]+ \| [\w ]+\]|^context and problem statement\b"
)
NOUN = r"(?:option|alternative|approach|solution|proposal|variant|scenario|choice|strategy|candidate|rule)"
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
    r"|\b(?:present|current) (?:adr|document|page)\b|\b(?:described|mentioned|outlined|listed|shown)\W*$"
    r"|\baforementioned\b|\bearlier in this\b"
    r"|\b(?:previous|next|last) (?:section|paragraph|point|step|example|chapter|list)\b"
    rf"|^\W*{_NOTE}\b\s*(?:also|the|this)?\b[:\s]",
    re.IGNORECASE,
)
"""Words that point to another place of the page, or to what was linked there."""

_LEANS = re.compile(
    r"(?:it|its|this|these|they|their|that|those|both|"
    r"each (?=ha|of|is|one)|all (?=of (?:these|those|them)|have|are)|such|"
    r"there|here|he|she|then|also|otherwise|however|instead|so|thus|"
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

_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))


class Quotation(NamedTuple):
    """The sentence of a text that was taken, and what was left out."""

    text: str = ""
    rest: tuple[str, ...] = ()
    """The sentences that were left out, those behind the quotation first."""

    flaw: str = ""
    """Why the first of them was left out."""


MAX_TRIED = 3
"""Sentences at the beginning of a text among which the one that decides is looked for."""


def first_sentence(text: str, max_characters: int) -> Quotation:
    """Return the first sentence of a text if it can be read alone."""
    first, *rest = whole_sentences(text[:_MAX_READ]) or [""]
    flaw = strict_flaw(first, max_characters) or ("the next sentence limits it" if _contrasts(rest) else "")
    return Quotation("", (first, *rest), flaw) if flaw else Quotation(first, tuple(rest), ENOUGH if rest else "")


def _contrasts(later_sentences: Sequence[str]) -> bool:
    return bool(later_sentences and _CONTRAST.match(later_sentences[0]))


def _is_broken(sentence: str) -> bool:
    return any(not _ABBREVIATED.search(sentence[: end.end()]) for end in _BROKEN.finditer(sentence))


def without_last(text: str) -> str:
    """Return a text without its last sentence, which goes on elsewhere."""
    return " ".join(whole_sentences(text[:_MAX_READ])[:-1])


_MIN_WORDS_OF_ITEM = 4
"""Words from which on an item says something; "Job retries" is a topic."""

_ASKS = re.compile(r"(?:how|what|which|why|whether|who|where|should|shall|can we|do we)\b", re.IGNORECASE)
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

_LABELLED = re.compile(r"[A-Z`][^.,;!?]{0,40}?(?::\s|\s[-–—]+\s)")
"""A sentence that begins with what it is about, and a colon or a dash."""

_ANNOUNCES = re.compile(
    r"\b(?:several|various|many|multiple|some|few|two|three|four|five|different|following|main)(?: \w+){0,2} "
    r"(?:consequences|implications|reasons|options|ways|factors|dimensions|approaches|challenges|problems|issues|"
    r"drawbacks|benefits|advantages|disadvantages|alternatives|aspects|solutions|goals|choices|possibilities|steps|"
    r"things|requirements|considerations)\b",
    re.IGNORECASE,
)
"""Words that announce a list."""

_BROKEN = re.compile(r"[a-z)`]{2}[.!?](?=\s+(?:i\.e|e\.g|[a-z]{2}))")
"""The end of a sentence in the middle of one, unless it is that of an abbreviation."""

_SEE = re.compile(r"\w See \b|\b[Ss]ee \(?\S*(?:\.md\b|https?:)")
_FRAGMENT = re.compile(
    r"(?:Since|Because|Although|Though|While|Whereas|If|When|Unless|As)\b[^,]*$|(?:is|are|can|means|will|has|have|was|"
    r"does|should|must|may|might|could|would)\b|\S*https?:\S*\W*$"
)
"""A clause that another sentence completes, and an address alone."""

_CONTRAST = re.compile(
    r"(?:however|but|yet|nevertheless|that said|in (?:reality|practice)|not (?:so|any)\b)\b", re.IGNORECASE
)
_CODE_OF_PAGE = re.compile(r"\([A-Z]{1,5}-?\d[^()]*\)|\([^()]*\(")
"""The code of a requirement, which a list on another page explains, or a link in brackets."""

_COLON = re.compile(r":(?:\s|$)")
_MARKS = re.compile(r"<[A-Za-z/!]|&#?\w{2,8};|[\\|{}~^\[\]]|!\[|:::|==|\$\$|^#|\s[*_]\w|\w\*")
"""Marks that are more than emphasis, code or a link."""


def item(text: str, max_characters: int) -> Quotation:
    """Return an item of a list if it is one sentence that can be read alone."""
    parts = whole_sentences(text[:_MAX_READ])
    flaw = ENOUGH if len(parts) > 1 else _item_flaw(text) or strict_flaw(text, max_characters)
    return Quotation("", (text,), flaw) if flaw else Quotation(text)


def effect(text: str, max_characters: int) -> Quotation:
    """Return an item of the consequences if it can be read alone and does not say how things were."""
    quoted = item(text, max_characters)
    return Quotation("", (text,), "it says how things were") if _WAS.search(quoted.text) else quoted


def _item_flaw(text: str) -> str:
    if len(text.split()) < _MIN_WORDS_OF_ITEM or _LABEL_ALONE.fullmatch(text):
        return "it is a label"
    return "it says that there are none" if _SAYS_NONE.fullmatch(text) else ""


def strict_flaw(sentence: str, max_characters: int) -> str:
    """Return why a sentence cannot be read away from its page, has a label or leads to a list; empty if it can."""
    if len(sentence) > max_characters:
        return TOO_LONG
    prose = _CODE_SPAN.sub("`code`", sentence)
    if _MARKS.search(prose):
        return "it has more than plain text"
    if _CODE_OF_PAGE.search(prose) or _SEE.search(prose):
        return "it points to another place"
    if _FRAGMENT.match(prose) or _is_broken(prose):
        return "it is not complete"
    if _ANNOUNCES.search(prose):
        return "it has a label or leads to a list"
    if _LABELLED.match(sentence) or _COLON.search(prose):
        return "it has a label or leads to a list"
    return sentence_flaw(sentence)


_EXCEPTS = re.compile(
    r"\(?(?:however|but|except|unless|only|otherwise|until|note|nb|initially|for now|"
    r"to be (?:confirmed|decided|discussed)|"
    r"with the exception|apart from|this (?:does|is|will|would|may|might|applies) (?:not|only)|(?:this|it) will be)\b",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\b(?:another adr|future adr|separate adr|for now|not yet|later|deferred|postponed|out of scope|in the future|"
    r"temporar(?:y|ily)|reverted|except(?:ions?)?|only (?:if|when|for)|unless|not apply|does not include)\b",
    re.IGNORECASE,
)


def takes_back(next_sentence: str) -> bool:
    """True if a sentence limits the one before it, or puts it off."""
    return bool(_EXCEPTS.match(next_sentence) or _TAKES_BACK.search(next_sentence))


def name_flaw(name: str) -> str:
    """Return why the name of an option cannot stand alone; empty if it can."""
    name = name[:_MAX_READ]
    if not re.search(r"[^\W\d_]{2}", name):
        return "it has no letters"
    if len(whole_sentences(name)) > 1:
        return "it has several sentences"
    if _MARKS.search(_CODE_SPAN.sub("`code`", name)):
        return "it has more than plain text"
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
