"""What the Stop hook suggests to save, and the log of it, so that nothing is suggested twice.

No record is written here: a note asks the agent, which has the context, to save what was settled or to drop it. The
log is one small file per project in the user's state folder, a line of JSON for each event. Losing it loses no record;
it only means that something may be suggested once more.
"""

from __future__ import annotations

import os

from onrecord import coldstart, timestamps
from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.state_file import StateFile, state_path
from onrecord.text import cut, flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from onrecord.capture.triage import SaveCandidate
    from onrecord.settings import Settings

MAX_LOG_BYTES = 400_000
"""Bytes of a project's log: about 1,000 suggestions."""

_LONGEST_EVIDENCE = 600
_QUOTED = 320
_KEY = 12
_DISTINCT = 4
"""Words from which a sentence differs from others; "go ahead" stands beside everything."""


class Suggestion(NamedTuple):
    """Something that was suggested: what became of it, and the words it rests on, in which session."""

    state: str
    category: str
    session: str
    at: str
    keys: tuple[str, ...]
    evidence: tuple[str, ...]

    @property
    def key(self) -> str:
        """The id by which a command refers to it."""
        return self.keys[0]


def suggest(findings: Sequence[SaveCandidate], *, project: str, store: str, session: str, settings: Settings) -> str:
    """The note that asks for the best new finding to be saved; empty if there is none, or enough was asked."""
    made = read(project)
    if count(made, session) >= settings.count("capture.max_suggestions"):
        return ""
    for finding in findings:
        if not is_new(finding, made, session) or _has_secret(finding):
            continue
        from onrecord.capture import similar

        if similar.find_restated(store, finding.core):
            continue
        add(project, "suggested", finding.category, session, finding.evidence)
        return note(finding)
    return ""


def is_new(finding: SaveCandidate, made: list[Suggestion], session: str) -> bool:
    """Whether nothing of the kind was suggested: these words in any session, or words beside them in this one."""
    own = [suggestion for suggestion in made if suggestion.session == session]
    around = [sentence for sentence in finding.around if len(sentence.split()) >= _DISTINCT]
    return not any_suggested(made, [finding.core]) and not any_suggested(own, around)


def note(finding: SaveCandidate) -> str:
    """Two lines for the agent, which the user sees too: the words it is about, and what to do."""
    kind = "a correction" if finding.is_correction else CATEGORIES[finding.category].called
    quoted = flat(cut(" … ".join(finding.evidence), _QUOTED))
    # An agent that says nothing at all is asked once more by the host: another request.
    return (
        f'Memory: later sessions may need to know this ({kind}): "{quoted}"\n'
        'If so, save it as suggested, with the memory:save skill. If not, answer "Nothing to save." and stop.'
    )


def _has_secret(finding: SaveCandidate) -> bool:
    from onrecord.record import secrets

    return any(True for _ in secrets.find_leaks(list(finding.evidence)))


def read(project: str) -> list[Suggestion]:
    """Everything that was suggested in a project, oldest first, each with its last state."""
    latest: dict[str, Suggestion] = {}
    for suggestion in _parsed(_file(project).lines()):
        latest.pop(suggestion.key, None)
        latest[suggestion.key] = suggestion
    return list(latest.values())


def add(project: str, state: str, category: str, session: str, evidence: tuple[str, ...]) -> Suggestion:
    """Log that something was suggested, drafted, saved or rejected."""
    shortened = tuple(sentence[:_LONGEST_EVIDENCE] for sentence in evidence)
    suggestion = Suggestion(state, category, session, timestamps.now(), keys(evidence), shortened)
    _file(project).append(coldstart.dumps(suggestion._asdict()) + "\n")
    return suggestion


def newest_open(project: str, session: str) -> Suggestion | None:
    """The newest suggestion that nothing came of yet: of a session, or of any where the session is unknown."""
    made = (each for each in reversed(read(project)) if each.state == "suggested")
    return next((each for each in made if not session or each.session == session), None)


def any_suggested(made: list[Suggestion], sentences: Iterable[str]) -> bool:
    """Whether any of these sentences was suggested before, whatever became of it."""
    wanted = set(keys(sentences)) if made else set()
    return any(wanted.intersection(suggestion.keys) for suggestion in made)


def count(made: list[Suggestion], session: str) -> int:
    """How many suggestions a session has had."""
    return sum(suggestion.session == session for suggestion in made)


def keys(evidence: Iterable[str]) -> tuple[str, ...]:
    """What tells one sentence from another, whatever its spacing, case and punctuation."""
    plain = (" ".join("".join(c.lower() if c.isalnum() else " " for c in text).split()) for text in evidence)
    return tuple(dict.fromkeys(coldstart.content_hash(text.encode("utf-8", "replace"))[:_KEY] for text in plain))


def _file(project: str) -> StateFile:
    name = coldstart.content_hash(os.path.realpath(project).encode("utf-8", "surrogatepass"))
    return StateFile(os.path.join(state_path("suggestions"), name), MAX_LOG_BYTES, "suggestions")


def _parsed(lines: Iterable[str]) -> Iterator[Suggestion]:
    for line in lines:
        try:
            raw = coldstart.loads(line)
        except ValueError:
            continue
        if isinstance(raw, dict) and isinstance(raw.get("keys"), list) and raw["keys"]:
            state, category, session, at = (str(raw.get(name, "")) for name in Suggestion._fields[:4])
            evidence = raw.get("evidence")
            quotes = tuple(map(str, evidence)) if isinstance(evidence, list) else ()
            yield Suggestion(state, category, session, at, tuple(map(str, raw["keys"])), quotes)
