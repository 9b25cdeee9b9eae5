"""The categories of records: the one table that everything which treats them differently is derived from.

Hooks import it, so the fields of a record's content are constants here; `record.schema` makes checks of them.
The order is that of priority: between equally good matches the earlier category comes first.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from onrecord.record.memory import Memory

_NOTHING: Mapping[Any, Any] = {}


def _no_state(memory: Memory) -> str:
    return ""


def _debt_state(memory: Memory) -> str:
    return memory.text("priority") if memory.text("status") in ("open", "in_progress") else "closed"


def _session_state(memory: Memory) -> str:
    left = memory.text("next_actions") or memory.text("in_progress") or memory.text("blockers")
    is_unfinished = memory.text("outcome") in ("partial", "blocked") or bool(left)
    return "open" if is_unfinished and memory.text("outcome") != "abandoned" else ""


class Category(NamedTuple):
    """All that sets one category apart from the others."""

    name: str
    folder: str
    digest_rank: int
    """Its place in a digest among equals; the gaps are for the kinds of entries in knowledge banks."""
    content: tuple[tuple[str, str, Any, str], ...]
    """Name, `required` or `optional`, kind (see `record.schema`) and purpose of each field, what matters most first."""
    statement: str
    """The content field that says the thing itself."""
    called: str
    """What a suggestion to save one calls it, for the user who reads it."""
    meaning: str
    """What it is for, in a line, for somebody who has to choose."""
    triage_threshold: float
    """How sure triage must be: 85 of 100 suggestions are right, on sessions of authors left out of the fit."""
    defaults: Mapping[str, Any] = _NOTHING
    """Content that its author may leave out."""
    details: tuple[tuple[str, str, int, str], ...] = ()
    """What follows the statement in its line: label, field, most characters, and a field that makes it needless."""
    statement_length: int = 0
    """Most characters of the statement in that line, so that the details fit; 0 is no limit of its own."""
    marks: Mapping[tuple[str, str], str] = _NOTHING
    """What a field with a certain value adds: to the statement if it begins with a space, else a sentence."""
    topic: str = ""
    """The content field that names its subject, put before a statement that does not."""
    is_rule: bool = False
    """Whether it says what to do, so that a new one may replace an old one."""
    binds_files: bool = False
    """Whether a digest shows it for its files alone: it binds whoever changes them."""
    is_strict: bool = False
    """Whether it claims to hold for all of the project."""
    intent: tuple[int, str] = (0, "")
    """Words of a prompt that ask for it, and their rank: "why does it crash" asks for a runbook, not a decision."""
    inactive_when: tuple[str, tuple[object, ...]] = ("", ())
    """The field, and its values, with which a record says that it no longer holds."""
    when_superseded: Mapping[str, Any] = _NOTHING
    """Content that a record takes on when another replaces it."""
    severity_field: str = ""
    """The content field that says how much it matters."""
    severity_rank: Mapping[str, int] = _NOTHING
    """How grave it is to touch its files unaware of it, by grade; 0 is gravest, a missing grade belongs to no file."""
    open_state: Callable[[Memory], str] = _no_state
    """What a digest needs to know: `open`, `closed`, the grade of what is open, or nothing."""
    urgent_states: Mapping[str, str] = _NOTHING
    """States that put a record in the digest as soon as its files are touched, and how that is said."""
    max_active: int = 0
    """How many stay active unless a setting says otherwise, the oldest being retired; 0 is all."""


_DECISION = Category(
    name="decision",
    folder="decisions",
    digest_rank=20,
    content=(
        (
            "status",
            "required",
            ("choice", "proposed", "accepted", "deprecated", "superseded"),
            "Where the decision stands.",
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
    called="a decision",
    meaning="what was decided, and why",
    triage_threshold=0.85,
    defaults={"status": "accepted"},
    details=(("Why", "rationale", 160, ""),),
    marks={("status", "proposed"): " (proposed)", ("status", "deprecated"): " (deprecated)"},
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
    content=(
        ("kind", "required", ("choice", "limitation", "gap", "policy", "technical"), "What sort of limit it is."),
        ("rule", "required", "text", "The rule itself."),
        ("impact", "required", "some lines", "What happens when it is ignored."),
        ("severity", "required", ("choice", "high", "medium", "low"), "How bad that is."),
        ("active", "required", "flag", "Whether it holds now."),
        ("workarounds", "optional", "lines", "What to do instead."),
        ("expires", "optional", "day", "A date after which it no longer holds, or the condition in words."),
    ),
    statement="rule",
    called="a limit",
    meaning="a rule or limit, and what happens when it is ignored",
    triage_threshold=0.75,
    defaults={"kind": "technical", "severity": "medium", "active": True},
    details=(("Instead", "workarounds", 150, ""), ("If ignored", "impact", 120, "workarounds")),
    marks={("severity", "high"): "Severity: high"},
    is_rule=True,
    binds_files=True,
    is_strict=True,
    inactive_when=("active", (False,)),
    when_superseded={"active": False},
    severity_field="severity",
    severity_rank={"high": 0, "medium": 2, "low": 5},
)

_PREFERENCE = Category(
    name="preference",
    folder="preferences",
    digest_rank=30,
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
    called="a preference",
    meaning="how things are done here",
    triage_threshold=0.75,
    defaults={"strength": "default"},
    details=(("Avoid", "examples.avoid", 100, ""), ("Why", "reason", 120, "")),
    topic="topic",
    is_rule=True,
    binds_files=True,
    severity_field="strength",
    severity_rank={"strong": 3, "default": 4, "soft": 7},
)

_RUNBOOK = Category(
    name="runbook",
    folder="runbooks",
    digest_rank=60,
    content=(
        ("trigger", "required", "text", "When to use it."),
        ("symptoms", "optional", "lines", "What one sees: messages, exit codes, behaviour."),
        ("root_cause", "optional", "text", "Why it happens."),
        ("environment", "optional", ("text", 2_000), "Where it happens."),
        ("steps", "required", "steps", "What to do, in order."),
        ("verification", "required", "text", "How to know that it worked."),
    ),
    statement="trigger",
    called="a fix",
    meaning="a problem that comes back, and the steps that fix it",
    triage_threshold=0.65,
    # Room for the whole list of steps behind it: a step that is cut off helps nobody.
    details=(("→", "steps", 0, ""),),
    statement_length=130,
    intent=(1, "error errors crash crashes crashed crashing fail fails failed failing failure"),
)

_TECH_DEBT = Category(
    name="tech_debt",
    folder="tech-debt",
    digest_rank=70,
    content=(
        ("status", "required", ("choice", "open", "in_progress", "resolved", "wont_fix"), "Where it stands."),
        ("priority", "required", ("choice", "critical", "high", "medium", "low"), "How urgent it is."),
        ("description", "required", "text", "What is wrong."),
        ("impact", "optional", "lines", "What it costs."),
        ("reason_deferred", "required", "text", "Why it was left."),
        ("suggested_fix", "optional", "lines", "What would repair it."),
        ("acceptance_criteria", "optional", "lines", "When it is done."),
    ),
    statement="description",
    called="something left for later",
    meaning="something that should be better, and was left for later",
    triage_threshold=0.8,
    defaults={"status": "open", "priority": "medium"},
    details=(("Fix", "suggested_fix", 160, ""),),
    statement_length=240,
    marks={("status", "resolved"): " (resolved)", ("status", "wont_fix"): " (will not be fixed)"},
    severity_field="priority",
    severity_rank={"critical": 1, "high": 4, "medium": 6, "low": 7},
    open_state=_debt_state,
    urgent_states={"critical": "critical-priority debt", "high": "high-priority debt"},
)

_SESSION_SUMMARY = Category(
    name="session_summary",
    folder="sessions",
    digest_rank=80,
    content=(
        ("goal", "required", "text", "What the session was for."),
        ("outcome", "required", ("choice", "success", "partial", "blocked", "abandoned"), "How it ended."),
        ("completed", "required", "lines", "What was done."),
        ("next_actions", "required", "lines", "What comes next."),
        ("in_progress", "optional", "lines", "What was left half done."),
        ("blockers", "optional", "lines", "What stands in the way."),
        ("key_changes", "optional", "lines", "What changed in the code."),
    ),
    statement="goal",
    called="where the work stands",
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
        ("outcome", "success"): " (success)",
        ("outcome", "partial"): " (partial)",
        ("outcome", "blocked"): " (blocked)",
        ("outcome", "abandoned"): " (abandoned)",
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
