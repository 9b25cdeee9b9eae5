"""Whether a record can be understood alone: words that point to a conversation, a page or a day its reader lacks."""

from __future__ import annotations

import re

from onrecord.categories import BY_NAME
from onrecord.record.memory import Memory
from onrecord.search import document

_LONGEST = 20_000
"""Characters of a text that are looked at, as in a search for duplicates."""

_ELSEWHERE = re.compile(
    r"(?i)\b(?:"
    # A source that is named ("as described in RFC 7231") is one that a reader can look up.
    r"as (?:we )?(?:just )?(?:discussed|agreed|mentioned|described|explained|noted|said)(?! (?:in|by|at|under|on)\b)"
    r"|(?:as|like|shown|listed|described|mentioned|discussed|given|defined) (?:above|below|earlier|previously)"
    r"|the (?:above|aforementioned) (?:approach|option|decision|solution|problem|issue|discussion|comment)"
    # "The chat" may be a part of the program.
    r"|(?:this|our) (?:chat|conversation)|(?:this|our|the) (?:slack|email|teams) thread"
    r"|see (?:above|below|(?:the )?(?:thread|chat|conversation|previous (?:message|section|comment)))"
    r"|wie (?:oben|besprochen|erwähnt|vereinbart|beschrieben|gehabt)(?! (?:in|im|unter|auf)\b)|siehe (?:oben|unten)"
    r"|como (?:se (?:discutió|acordó|mencionó|dijo)|comentamos|acordamos|hablamos|discutimos)"
    r"|(?:ver|véase) (?:más )?(?:arriba|abajo)"
    r")\b"
)
_DAY = re.compile(
    r"(?i)\b(?:yesterday|tomorrow|earlier today|the other day|(?:last|next) (?:week|month|night|sprint|quarter|year)"
    r"|this (?:week|sprint)|gestern|letzte woche|nächste woche|ayer|la semana pasada|la próxima semana)\b"
)
# An option whose name follows is no riddle: "option B (Redis)".
_OPTION = re.compile(
    r"\b(?:[Oo]ption|[Aa]lternative|[Vv]ariant|[Aa]pproach|[Pp]roposal) (?:[A-E]|[1-9])\b(?! ?[(:–—,-])"
)
_OPENING = re.compile(
    # "It is important to …" speaks of nothing that came before.
    r"(?i)\W{0,9}((?:it|they)\b(?!(?:'s| is| was) \w{1,20} (?:to|that)\b)"
    r"|(?:this|that|these|those) (?:is|was|are|were|must|should|can|cannot|will|has|have|does|did|means|needs|works)\b)"
)
_ACT_ON_IT = re.compile(
    r"(?i)\W{0,9}(?:(?:always|never|please|don't|do not) )?"
    r"((?:use|do|fix|change|make|keep|move|put|set|run|remove|avoid|call|try|check) (?:it|them|this|that)"
    r"(?=\W{0,9}$| (?:in|for|to|with|again|instead|from|on|like|as)\b))"
)


def obstacles(record: Memory) -> list[str]:
    """The words of a record that mean nothing to somebody who has only the record, each once."""
    statement = record.text(BY_NAME[record.category].statement)
    openings = [pattern.match(text) for text in (record.title, statement) for pattern in (_OPENING, _ACT_ON_IT)]
    phrases = [opening.group(1) for opening in openings if opening]
    texts = [text[:_LONGEST] for text in (record.title, *document.content_texts(record))]
    for pattern in (_ELSEWHERE, _OPTION, _DAY):
        phrases += [match.group() for text in texts for match in pattern.finditer(text)]
    return list(dict.fromkeys(phrases))
