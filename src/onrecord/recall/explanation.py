"""Every candidate for a prompt, if an agent is shown it, and why, in words. No hook loads this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.recall.candidate import NOTHING_CERTAIN, NOTHING_ON_FILE, Candidate
from onrecord.recall.for_prompt import BELOW_THRESHOLD, Decision
from onrecord.record.memory import Memory
from onrecord.search import document, record_vectors, terms, vectors
from onrecord.search.query import ENGLISH, Query
from onrecord.search.rank import Match
from onrecord.session import transcript
from onrecord.settings import PROMPT_SWITCHES, Settings, off_switches
from onrecord.store.store import Store
from onrecord.text import cut, flat, plural

_MIN_MEANING = 0.4
"""The cosine from which on two texts are called close in meaning: unrelated ones seldom reach it."""

_MIN_RIVAL_SHARE = 0.5
"""The share of a record's own weight among the candidates from which on another one competes with it."""

_MAX_WORDS = 6
_MAX_RIVALS = 3
"""Rivals that are counted: with more it does not matter how many."""

_NUMBERS = ("no", "one", "two", "three")

_MAX_EXPLAINED = 5
"""Candidates whose reasons are given, beside those that are shown: further down they are all alike."""

_MAX_EARLIER_CHARACTERS, _MAX_PASSAGE_CHARACTERS = 200, 60


class _Closest(NamedTuple):
    """The text of a record that is closest to a prompt."""

    kind: str
    text: str
    cosine: float


class Explained(NamedTuple):
    """A candidate, what a model says of it, and the reasons for its score."""

    candidate: Candidate
    verdict: str
    reasons: list[str]


def explained(decision: Decision, verdicts: Mapping[int, str] | None = None) -> list[Explained]:
    """Return the candidates, most probable first; reasons for the first few and for all that are shown."""
    candidates = sorted(decision.candidates, key=lambda candidate: (-candidate.match.probability, candidate.match.path))
    explanations = []
    for position, candidate in enumerate(candidates):
        others = [
            other.match for other in candidates if other is not candidate and other.match.root == candidate.match.root
        ]
        has_reasons = position < _MAX_EXPLAINED or candidate.shown_form
        verdict = (verdicts or {}).get(id(candidate.match), "")
        explanations.append(Explained(candidate, verdict, reasons(candidate.match, others) if has_reasons else []))
    return explanations


def silence(prompt: str, settings: Settings, switches: Sequence[str] = PROMPT_SWITCHES) -> str:
    """Return why a hook would show nothing for a prompt or a command, whatever is on file; empty if it would search."""
    if transcript.wants_silence(prompt):
        return "a prompt like this one is left alone"
    return "; ".join(map(str, off_switches(settings, *switches)))


def thresholds(decision: Decision) -> str:
    """Return the scores at which a record is shown as a rule or pointer, in words; or that summaries answer."""
    if decision.work:
        return f"A question about the work, answered from session summaries. {decision.work}."
    rule, pointer = decision.thresholds
    pointed = f", as a pointer from {pointer:.2f} on" if decision.thresholds.has_pointers else ""
    prefix = ""
    if decision.is_past:
        topic = next((candidate.match.query.text for candidate in decision.candidates if candidate.match.query), "")
        topic = topic.strip("?.!, ")
        prefix = f"A question about the past{f' (topic: {topic})' if topic else ''}: an answer is about its topic. "
    return f"{prefix}Shown as a rule from a score of {rule:.2f} on{pointed}."


def borrowed_words(decision: Decision) -> str:
    """Return a sentence with the prompt that was searched for in place of this one; empty if none was."""
    words = decision.borrowed[:_MAX_EARLIER_CHARACTERS]
    return f"No record has a word of it. Searched for the prompt before, to point to at most: {words}" if words else ""


def outcome(candidate: Candidate, decision: Decision) -> str:
    """Return the outcome of a candidate, in words."""
    if candidate.shown_form:
        return "shown" if decision.work else f"shown as a {candidate.shown_form}"
    if candidate.outcome != BELOW_THRESHOLD:
        return f"not shown: {candidate.outcome}"
    return f"not shown: below {min(decision.thresholds):.2f}"


def conclusion(decision: Decision, *, is_silent: bool) -> str:
    """Return what the agent is shown, in one sentence."""
    if is_silent:
        return "The agent is shown nothing."
    if decision.text == NOTHING_ON_FILE:
        return "The agent is shown that nothing is on file, and how to search."
    if decision.text == NOTHING_CERTAIN:
        return "The agent is shown that no record is certain to answer, and how to search."
    if decision.work and decision.text:
        count = len(decision.shown_candidates)
        return (
            f"The agent is shown {plural(count, 'session summary')}."
            if count
            else f"The agent is told: {decision.text}"
        )
    parts = [
        plural(len(part), name) for part, name in ((decision.rules, "rule"), (decision.pointers, "pointer")) if part
    ]
    return f"The agent is shown {' and '.join(parts) or 'nothing'}."


def reasons(match: Match, other_matches: Sequence[Match]) -> list[str]:
    """Return the reasons for and against a match, weightiest first, given those that it competes with."""
    try:
        record = Store(match.root).read(match.path).memory
    except OnrecordError as error:
        return [f"its file cannot be read: {error.message}"]
    if match.query is None and match.features:
        return _of_command(match)
    if match.query is None:
        return []
    query = match.query
    texts = [_of_via(match), _of_passage(query), _of_trigger(record, query), _of_words(record, query)]
    if match.is_by_keywords:
        texts.append(_of_points(match))
    else:
        texts += [_of_meaning(record, query), _of_rivals(match, other_matches)]
    return [reason for reason in texts if reason]


_OF_COMMAND = (
    ("family_in_trigger", "names the command in a trigger"),
    ("family_in_title", "names the command in its title"),
    ("family_in_body", "names the command in its text"),
    ("unnamed", "does not name the command"),
    ("other_option", "its title is about an option that the command does not have"),
    ("option", "names an option of the command"),
    ("head_named", "its title or a trigger has words of the program or subcommand"),
    ("concept_named", "its title or a trigger says what the command does"),
    ("arguments", "its title or a trigger has words of the arguments"),
    ("inspection", "the command only looks at something"),
)
"""The features of a command that are reasons for or against a record, strongest first, in words."""


def _of_command(match: Match) -> list[str]:
    """Return the reasons for and against a record that may govern a command."""
    return [words for name, words in _OF_COMMAND if match.features[name]][:_MAX_WORDS] or ["only common words match"]


def _of_via(match: Match) -> str:
    return f"found by the text of “{match.via[1]}”, which it replaces" if match.via else ""


def _of_passage(query: Query) -> str:
    """Return the passage of the prompt that counted, if it was not the whole prompt."""
    return f"by one passage of the prompt: “{flat(cut(query.text, _MAX_PASSAGE_CHARACTERS))}”" if query.others else ""


def _of_trigger(record: Memory, query: Query) -> str:
    """Return the trigger that the query has most of, if it has at least half of it."""
    best, most = "", 0.0
    for trigger in record.triggers:
        topical = set(terms.stream(trigger)).difference(*map(terms.of_word, ENGLISH.intersection(_words(trigger))))
        share = len(topical.intersection(query.terms)) / len(topical) if topical else 0.0
        if share > most:
            best, most = trigger, share
    if most < 0.5:
        return ""
    return f"{'matches' if most == 1 else 'nearly matches'} a trigger: “{best}”"


def _of_words(record: Memory, query: Query) -> str:
    """Return the words of the prompt that the record has, and where; and those that it lacks."""
    title, *others = (terms.respelled(field, query.terms, query.names).split() for field in document.build(record))
    rest = frozenset(term for field in others for term in field)
    spelled = {word.lower(): terms.of_word(word) for word in terms.words(query.text)}
    topical = {word: parts for word, parts in spelled.items() if set(parts).intersection(query.terms)}
    in_title = [word for word, parts in topical.items() if set(title).issuperset(parts)]
    elsewhere = [word for word, parts in topical.items() if word not in in_title and rest.issuperset(parts)]
    missing = [word for word in topical if word not in in_title and word not in elsewhere]
    places = (("in its title", in_title), ("in its text", elsewhere), ("not in it", missing))
    return "; ".join(f"{where}: {_joined(present)}" for where, present in places if present)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word.lower() for word in terms.words(text)))


def _joined(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MAX_WORDS} more" if len(words) > _MAX_WORDS else ""
    return ", ".join(words[:_MAX_WORDS]) + more


def _of_meaning(record: Memory, query: Query) -> str:
    """Return the text of the record that is close to the prompt in meaning, if one is."""
    try:
        vectorizer = vectors.shared()
    except (OSError, ValueError):
        return ""
    prompt = vectorizer.vector(vectorizer.words(query.text))
    texts = [("title", record.title), *(("trigger", trigger) for trigger in record.triggers)]
    texts += [("text", part) for part in record_vectors.sentences(record)]
    cosines = (_cosine(prompt, vectorizer.vector(vectorizer.words(text))) for _, text in texts)
    closest = max((_Closest(*text, cosine) for text, cosine in zip(texts, cosines)), key=lambda text: text.cosine)
    if closest.cosine < _MIN_MEANING:
        return "not close in meaning"
    return f"close in meaning to its {closest.kind}: “{closest.text}”"


def _cosine(one_vector: bytes, other_vector: bytes) -> float:
    products = ((left_byte - 128) * (right_byte - 128) for left_byte, right_byte in zip(one_vector, other_vector))
    return sum(products) / vectors.LENGTH**2


def _of_points(match: Match) -> str:
    """Return the points of the keyword scorer, in words."""
    points, lead = match.features["keywords"], match.features["lead"]
    if not lead:
        return f"{points:g} keyword points, as many as another record"
    comparison = f"{lead:g} more than any other record" if lead > 0 else f"{-lead:g} fewer than the best"
    return f"{points:g} keyword points, {comparison}"


def _of_rivals(match: Match, other_matches: Iterable[Match]) -> str:
    """Return the number of other records that match about as well, in words."""
    least = _MIN_RIVAL_SHARE * match.features.get("share", 1.0)
    rivals = sum(other.features.get("share", 0.0) >= least for other in other_matches)
    if not rivals:
        return "no other record competes"
    count = _NUMBERS[rivals] if rivals <= _MAX_RIVALS else "many"
    return f"{count} other record{'s compete' if rivals > 1 else ' competes'}"
