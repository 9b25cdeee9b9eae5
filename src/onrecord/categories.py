"""The table of record categories. Every difference between categories is defined here.

Hooks import this module, so the content fields are plain constants; `record.schema` derives the checks from them.
The order is the priority: of equally good matches, the one with the earlier category comes first.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from onrecord.record.memory import Memory

_NOTHING: Mapping[Any, Any] = {}


def _no_state(record: Memory) -> str:
    return ""


def _debt_state(record: Memory) -> str:
    return record.text("priority") if record.text("status") in ("open", "in_progress") else "closed"


def _session_state(record: Memory) -> str:
    work = record.text("next_actions") or record.text("in_progress") or record.text("blockers")
    is_unfinished = record.text("outcome") in ("partial", "blocked") or bool(work)
    return "open" if is_unfinished and record.text("outcome") != "abandoned" else ""


class Category(NamedTuple):
    """The properties of one category."""

    name: str
    folder: str
    digest_rank: int
    """The order in a digest among equal records; the gaps leave room for entries of knowledge banks."""
    content: tuple[tuple[str, str, Any, str], ...]
    """Name, `required` or `optional`, kind (see `record.schema`) and purpose of each field, most important first."""
    statement: str
    """The content field with the main statement."""
    noun: str
    """The words for such a record when the user is asked to save one."""
    meaning: str
    """Its purpose in one line, for a user who chooses a category."""
    triage_threshold: float
    """The lowest probability at which saving is suggested: 84% were right for authors that the fit did not include."""
    boosted: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Cues of triage that speak for it, and those that strengthen one of them nearby."""
    defaults: Mapping[str, Any] = _NOTHING
    """Content that its author may leave out."""
    details: tuple[tuple[str, str, int, str], ...] = ()
    """Parts of the summary line after the statement: label, field, character limit, and a field that replaces it."""
    statement_length: int = 0
    """Character limit of the statement in the summary line, so that the details fit; 0 means no separate limit."""
    marks: Mapping[tuple[str, object], str] = _NOTHING
    """Words in front of every line about a record that has a field with a certain value: `(proposed) …`."""
    topic: str = ""
    """The content field with the subject; it precedes a statement that does not name it."""
    is_rule: bool = False
    """True if it says what to do, so that a new record may replace an old one."""
    is_strict: bool = False
    """True if it is meant to apply to the whole project."""
    intent: tuple[int, str] = (0, "")
    """Rank, and the words of a prompt that ask for this category: "crash" in "why does it crash" asks for a runbook."""
    inactive_when: tuple[str, tuple[object, ...]] = ("", ())
    """A content field, and its values that mean the record is not in force."""
    expires_field: str = ""
    """The content field with the last day on which it is in force."""
    when_superseded: Mapping[str, Any] = _NOTHING
    """Content that a record gets when another one replaces it."""
    severity_field: str = ""
    """The content field with the severity."""
    severity_rank: Mapping[str, int] = _NOTHING
    """The rank of each severity when a related file is edited, most severe first; other values are not shown then."""
    open_state: Callable[[Memory], str] = _no_state
    """The function for a record's state in the digest: `open`, `closed`, the severity of an open record, or nothing."""
    map_heading: str = ""
    """The heading of its lines in the map at session start, if it is not the name."""
    is_in_map: bool = True
    """False if the map at session start has no line for such a record."""
    standing: Mapping[str, int] = _NOTHING
    """How much a severity counts in the choice for a map that has not room for all: 1 to 3, like a confidence."""
    urgent_states: Mapping[str, str] = _NOTHING
    """States in which the digest shows a record as soon as its files change, with the words for each state."""
    max_active: int = 0
    """The default limit of active records, above which the oldest are retired; 0 means no limit."""


_DECISION = Category(
    name="decision",
    folder="decisions",
    digest_rank=20,
    map_heading="Decisions",
    content=(
        (
            "status",
            "required",
            ("choice", "proposed", "accepted", "deprecated", "superseded"),
            "The status of the decision.",
        ),
        ("decision", "required", "text", "What was decided, with its literal values."),
        ("context", "required", "text", "The situation that called for it."),
        ("rationale", "required", "some lines", "Why."),
        (
            "alternatives",
            "optional",
            (
                "objects",
                ("option", "required", ("text", 2_000), "What else was considered."),
                ("rejected_reason", "required", ("text", 2_000), "Why it lost."),
            ),
            "What was considered and rejected.",
        ),
        ("consequences", "optional", "lines", "What follows from it."),
    ),
    statement="decision",
    noun="a decision",
    meaning="what was decided, and why",
    triage_threshold=0.6,
    boosted=(("decision.strong", "decision.weak", "w.plan", "select"), ("reason", "contrast", "decision.news")),
    defaults={"status": "accepted"},
    details=(("Why", "rationale", 160, ""),),
    marks={
        ("status", "proposed"): "proposed",
        ("status", "deprecated"): "deprecated",
        ("status", "superseded"): "superseded",
    },
    is_rule=True,
    is_strict=True,
    intent=(2, "why chose choose decided decide decision rationale"),
    inactive_when=("status", ("superseded", "deprecated")),
    when_superseded={"status": "superseded"},
    severity_rank={"": 3},
)

_CONSTRAINT = Category(
    name="constraint",
    folder="constraints",
    digest_rank=10,
    map_heading="Constraints",
    standing={"high": 3, "medium": 2, "low": 1},
    content=(
        ("kind", "required", ("choice", "limitation", "gap", "policy", "technical"), "What sort of limit it is."),
        ("rule", "required", "text", "The rule itself."),
        ("impact", "required", "some lines", "What happens when it is ignored."),
        ("severity", "required", ("choice", "high", "medium", "low"), "How bad that is."),
        ("active", "required", "flag", "Whether it applies now."),
        ("workarounds", "optional", "lines", "What to do instead."),
        ("expires", "optional", "day", "A date after which it no longer applies, or the condition in words."),
    ),
    statement="rule",
    noun="a limit",
    meaning="a rule or limit, and what happens when it is ignored",
    triage_threshold=0.6,
    boosted=(("limit", "limit.weak"), ("external", "discovery", "w.system", "w.people")),
    defaults={"kind": "technical", "severity": "medium", "active": True},
    details=(("Instead", "workarounds", 150, ""), ("Impact", "impact", 120, "workarounds")),
    marks={("active", False): "no longer in force", ("severity", "high"): "high severity"},
    is_rule=True,
    is_strict=True,
    inactive_when=("active", (False,)),
    expires_field="expires",
    when_superseded={"active": False},
    severity_field="severity",
    severity_rank={"high": 0, "medium": 2, "low": 5},
)

_PREFERENCE = Category(
    name="preference",
    folder="preferences",
    digest_rank=30,
    map_heading="Preferences",
    standing={"strong": 3, "default": 2, "soft": 1},
    content=(
        ("topic", "required", ("text", 500), "What it is about."),
        ("value", "required", "text", "What is preferred."),
        ("reason", "required", "text", "Why."),
        ("strength", "required", ("choice", "strong", "default", "soft"), "How firmly."),
        (
            "examples",
            "optional",
            (
                "object",
                ("prefer", "optional", "lines", "Like this."),
                ("avoid", "optional", "lines", "Not like this."),
            ),
            "How it looks in practice.",
        ),
    ),
    statement="value",
    noun="a preference",
    meaning="how things are done here",
    triage_threshold=0.6,
    boosted=(
        ("preference.strong", "habit", "directive", "placement", "w.like"),
        ("scope", "universal", "topic", "contrast", "w.general"),
    ),
    defaults={"strength": "default"},
    details=(("Avoid", "examples.avoid", 100, ""), ("Why", "reason", 120, "")),
    topic="topic",
    is_rule=True,
    severity_field="strength",
    severity_rank={"strong": 3, "default": 4, "soft": 7},
)

_RUNBOOK = Category(
    name="runbook",
    folder="runbooks",
    digest_rank=60,
    map_heading="Runbooks",
    content=(
        ("trigger", "required", "text", "When to use it."),
        ("symptoms", "optional", "lines", "What one sees: messages, exit codes, behaviour."),
        ("root_cause", "optional", "text", "Why it happens."),
        ("environment", "optional", ("text", 2_000), "Where it happens."),
        ("steps", "required", "steps", "What to do, in order."),
        ("verification", "required", "text", "How to know that it worked."),
    ),
    statement="trigger",
    noun="a fix",
    meaning="a problem that comes back, and the steps that fix it",
    triage_threshold=0.6,
    boosted=(("cause.strong", "cause.weak"), ("solved", "w.fix")),
    # The whole list of steps must fit: a step that is cut off is useless.
    details=(("→", "steps", 0, ""),),
    statement_length=130,
    intent=(1, "error errors crash crashes crashed crashing fail fails failed failing failure"),
)

_TECH_DEBT = Category(
    name="tech_debt",
    folder="tech-debt",
    digest_rank=70,
    map_heading="Debt",
    standing={"critical": 3, "high": 3, "medium": 2, "low": 1},
    content=(
        ("status", "required", ("choice", "open", "in_progress", "resolved", "wont_fix"), "The status of the debt."),
        ("priority", "required", ("choice", "critical", "high", "medium", "low"), "How urgent it is."),
        ("description", "required", "text", "What is wrong."),
        ("impact", "optional", "lines", "What it costs."),
        ("reason_deferred", "required", "text", "Why it was left."),
        ("suggested_fix", "optional", "lines", "What would repair it."),
        ("acceptance_criteria", "optional", "lines", "When it is done."),
    ),
    statement="description",
    noun="something left for later",
    meaning="something that should be better, and was left for later",
    triage_threshold=0.6,
    boosted=(("debt.defer", "debt.defer.weak"), ("debt.flaw", "debt.return", "w.hold", "w.back")),
    defaults={"status": "open", "priority": "medium"},
    details=(("Fix", "suggested_fix", 160, ""),),
    statement_length=240,
    marks={
        ("status", "resolved"): "resolved",
        ("status", "wont_fix"): "will not be fixed",
        ("priority", "critical"): "critical",
        ("priority", "high"): "high priority",
    },
    severity_field="priority",
    severity_rank={"critical": 1, "high": 4, "medium": 6, "low": 7},
    open_state=_debt_state,
    urgent_states={"critical": "critical-priority debt", "high": "high-priority debt"},
)

_SESSION_SUMMARY = Category(
    name="session_summary",
    folder="sessions",
    digest_rank=80,
    is_in_map=False,
    content=(
        ("goal", "required", "text", "What the session was for."),
        ("outcome", "required", ("choice", "success", "partial", "blocked", "abandoned"), "How it ended."),
        ("completed", "required", "lines", "What was done."),
        ("next_actions", "required", "lines", "What comes next."),
        ("in_progress", "optional", "lines", "What was left half done."),
        ("blockers", "optional", "lines", "What blocks the work."),
        ("key_changes", "optional", "lines", "What changed in the code."),
    ),
    statement="goal",
    noun="the state of the work",
    meaning="what a piece of work has reached, and what comes next",
    triage_threshold=0.35,
    defaults={"outcome": "partial", "completed": [], "next_actions": []},
    details=(
        ("Left off at", "in_progress", 120, ""),
        ("Blocked by", "blockers", 100, ""),
        ("Next", "next_actions", 180, ""),
    ),
    statement_length=150,
    marks={
        ("outcome", "success"): "success",
        ("outcome", "partial"): "partial",
        ("outcome", "blocked"): "blocked",
        ("outcome", "abandoned"): "abandoned",
    },
    intent=(3, "next left continue resume yesterday stopped"),
    open_state=_session_state,
    urgent_states={"open": "open"},
    max_active=5,
)

CATEGORIES: dict[str, Category] = {
    category.name: category
    for category in (_DECISION, _CONSTRAINT, _PREFERENCE, _RUNBOOK, _TECH_DEBT, _SESSION_SUMMARY)
}
