"""The Stop hook's suggestions to save a record, and their log, so that nothing is suggested twice.

No record is written here. A note asks the agent, which knows the context, to save a record or to drop the suggestion.
The log is one small file per project in the user's state folder, with a line of JSON for each event. If it is lost,
the only damage is that something may be suggested again.
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
"""Largest log of a project: about 1,000 suggestions."""

_MAX_EVIDENCE_CHARS = 600
_MAX_QUOTE_CHARS = 320
_KEY_CHARS = 12
_MIN_DISTINCT_WORDS = 4
"""Sentences with fewer words, such as "go ahead", occur everywhere, so they do not show that two texts are the same."""


class Suggestion(NamedTuple):
    """A suggestion with its state, session and evidence."""

    state: str
    category: str
    session: str
    at: str
    keys: tuple[str, ...]
    evidence: tuple[str, ...]

    @property
    def key(self) -> str:
        """Id of the suggestion in commands."""
        return self.keys[0]


def suggest(
    save_candidates: Sequence[SaveCandidate], *, project: str, store: str, session: str, settings: Settings, skill: str
) -> str:
    """Return the note that suggests the best new candidate; empty if there is none, or the limit is reached.

    `skill` is the name by which the agent has the skill for saving.
    """
    earlier = read(project)
    if count(earlier, session) >= settings.count("capture.max_suggestions"):
        return ""
    for candidate in save_candidates:
        if not is_new(candidate, earlier, session) or _has_secret(candidate):
            continue
        from onrecord.capture import similar

        if similar.find_restated(store, candidate.core):
            continue
        add(project, "suggested", candidate.category, session, candidate.evidence)
        return note(candidate, skill, _wanted_triggers(project))
    return ""


def is_new(candidate: SaveCandidate, earlier: list[Suggestion], session: str) -> bool:
    """True if the candidate was never suggested, and no sentence around it was suggested in this session."""
    in_session = [suggestion for suggestion in earlier if suggestion.session == session]
    around = [sentence for sentence in candidate.around if len(sentence.split()) >= _MIN_DISTINCT_WORDS]
    return not any_suggested(earlier, [candidate.core]) and not any_suggested(in_session, around)


def note(candidate: SaveCandidate, skill: str, wanted_triggers: str = "") -> str:
    """Return two lines for the agent: the quotation, and instructions. The user sees them too."""
    kind = "a correction" if candidate.is_correction else CATEGORIES[candidate.category].noun
    quote = flat(cut(" … ".join(candidate.evidence), _MAX_QUOTE_CHARS))
    # The note asks for an answer, because the host asks an agent that answers nothing again: another request.
    return (
        f'Memory: later sessions may need to know this ({kind}): "{quote}"\n'
        f"If so, save it as suggested, with the {skill} skill{wanted_triggers}."
        ' If not, answer "Nothing to save." and stop.'
    )


def _wanted_triggers(project: str) -> str:
    """Return in which languages triggers are wanted, beside English."""
    from onrecord.capture import prompt_languages

    names = " and ".join(prompt_languages.typed(project))
    return f", with triggers in {names} too" if names else ""


def _has_secret(candidate: SaveCandidate) -> bool:
    from onrecord.record import secrets

    return any(True for _ in secrets.find_leaks(list(candidate.evidence)))


def read(project: str) -> list[Suggestion]:
    """Return all suggestions in a project, oldest first, each with its last state."""
    latest: dict[str, Suggestion] = {}
    for suggestion in _parsed(_file(project).lines()):
        latest.pop(suggestion.key, None)
        latest[suggestion.key] = suggestion
    return list(latest.values())


def add(project: str, state: str, category: str, session: str, evidence: tuple[str, ...]) -> Suggestion:
    """Log that a suggestion was made, drafted, saved or rejected."""
    quotes = tuple(sentence[:_MAX_EVIDENCE_CHARS] for sentence in evidence)
    suggestion = Suggestion(state, category, session, timestamps.now(), keys(evidence), quotes)
    _file(project).append(coldstart.dumps(suggestion._asdict()) + "\n")
    return suggestion


def newest_open(project: str, session: str) -> Suggestion | None:
    """Return the newest suggestion without an answer, made in `session` or, if that is empty, in any session."""
    suggestions = (suggestion for suggestion in reversed(read(project)) if suggestion.state == "suggested")
    return next((suggestion for suggestion in suggestions if session in ("", suggestion.session)), None)


def any_suggested(earlier: list[Suggestion], sentences: Iterable[str]) -> bool:
    """True if any of `sentences` was suggested before, in any state."""
    new_keys = set(keys(sentences)) if earlier else set()
    return any(new_keys.intersection(suggestion.keys) for suggestion in earlier)


def count(suggestions: list[Suggestion], session: str) -> int:
    """Return the number of suggestions in a session."""
    return sum(suggestion.session == session for suggestion in suggestions)


def keys(evidence: Iterable[str]) -> tuple[str, ...]:
    """Return a key for each sentence. Sentences that differ only in spacing, case or punctuation have the same key."""
    plain = (" ".join("".join(c.lower() if c.isalnum() else " " for c in text).split()) for text in evidence)
    return tuple(dict.fromkeys(coldstart.content_hash(text.encode("utf-8", "replace"))[:_KEY_CHARS] for text in plain))


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
