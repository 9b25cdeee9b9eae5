"""Capture: what a session may have settled, offered once to the agent that was there.

Nothing is written to the store from here: a note asks the agent, which has the context, to save it or drop it.
"""

from __future__ import annotations

from recollect.capture import suggestion_log
from recollect.categories import BY_NAME
from recollect.text import cut, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.capture.suggestion_log import Offer
    from recollect.capture.triage import Finding
    from recollect.settings import Settings

_QUOTED = 320
_TELLING = 4
"""Words from which a sentence is told from another; "go ahead" stands beside everything."""


def offer(found: Sequence[Finding], *, project: str, store: str, session: str, settings: Settings) -> str:
    """The note that asks for the best new finding to be saved; empty if there is none, or enough was asked."""
    made = suggestion_log.read(project)
    if suggestion_log.count(made, session) >= settings.count("capture.max_offers"):
        return ""
    for finding in found:
        if not is_new(finding, made, session) or _has_secret(finding):
            continue
        from recollect.capture import near_duplicates

        text = " ".join(finding.evidence)
        if near_duplicates.said_already(store, finding.core):
            continue
        nearest = near_duplicates.closest(store, text)
        noted = suggestion_log.note(project, "offered", finding.category, session, finding.evidence)
        told = (nearest.memory.id, nearest.memory.title) if nearest else None
        return note(finding, noted.key, draft=settings.text("capture.mode") != "auto", nearest=told)
    return ""


def is_new(finding: Finding, made: list[Offer], session: str) -> bool:
    """Whether nothing of the kind was offered: these words in any session, or what is said beside them in this one."""
    own = [one for one in made if one.session == session]
    around = [sentence for sentence in finding.around if len(sentence.split()) >= _TELLING]
    return not suggestion_log.were_made(made, [finding.core]) and not suggestion_log.were_made(own, around)


def note(finding: Finding, key: str, *, draft: bool, nearest: tuple[str, str] | None = None) -> str:
    """A few lines for the agent: the evidence, the nearest record, and the one command to run."""
    category = finding.category
    kind = f"{category}, a correction by the user" if finding.is_correction else category
    quoted = escape(cut(" … ".join(finding.evidence), _QUOTED))
    lines = [f'Memory: this session may have settled something worth keeping ({kind}): "{quoted}"']
    if nearest:
        record, title = nearest
        lines.append(
            f'Nearest record: {escape(record)} "{escape(cut(title, 100))}". If this changes it add `--update {record}`,'
            f" if it reverses it `--supersedes {record}`."
        )
    command = f"recollect save {category} {'--draft ' if draft else ''}--json --offer {key}"
    lines.append(
        f"If it should outlive the session, run `{command}` once, with the record as JSON on stdin: title, tags[],"
        f" triggers[] (3 to 6, how someone will ask for this in other words), content {{{BY_NAME[category].asks_for}}}."
        + (" It waits in the inbox for the user's review." if draft else "")
    )
    lines.append("If not, end the turn without mentioning this note.")
    return "\n".join(lines)


def _has_secret(finding: Finding) -> bool:
    from recollect.record import secrets

    return any(True for _ in secrets.leaks(list(finding.evidence)))
