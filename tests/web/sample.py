"""A project as it looks after a year: records of all categories, replaced ones, drafts, usage, and feedback to give."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import NamedTuple

from onrecord import timestamps
from onrecord.project import Project
from onrecord.record import compose
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.writer import Writer
from onrecord.usage import event_log, usage_log
from onrecord.usage.event_log import Event
from tests.git_project import GitProject

_DAY = 86_400
_HOSTS = ("claude-code", "claude-code", "claude-code", "codex", "gemini")
_FOLDERS = {
    "src/auth": 14, "src/booking": 26, "src/booking/seats": 12, "src/payments": 18, "src/payments/refunds": 9,
    "src/web/pages": 22, "src/web/components": 34, "src/db/migrations": 41, "src/jobs": 11, "tests/auth": 9,
    "tests/booking": 21, "tests/payments": 15, "docs": 13, "deploy/terraform": 10, "scripts": 6,
}  # fmt: skip


class SampleRecord(NamedTuple):
    """A record of the sample: days since it was saved, its title, what it says, and the files that it names."""

    days: int
    category: str
    title: str
    text: str
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()


RECORDS = (
    SampleRecord(352, "decision", "Sessions live in Redis", "Redis with a replica", ("src/auth/",), ("auth",)),
    SampleRecord(
        210,
        "decision",
        "Sessions live in Postgres",
        "Rows in auth.sessions, 14 day expiry",
        ("src/auth/file_0.py",),
        ("auth", "database"),
        ("where do we keep login state?", "users are logged out after a deploy"),
    ),
    SampleRecord(340, "decision", "Money is stored in cents", "Integers in cents, one currency per row",
                 ("src/payments/",), ("payments",), ("how do we store prices?", "rounding error in an invoice")),
    SampleRecord(331, "constraint", "Never log a session id", "Ids are secrets; log the last four letters",
                 ("src/auth/",), ("auth", "logging"), ("add a log line to the login",)),
    SampleRecord(300, "decision", "Templates are rendered on the server", "No client-side framework",
                 ("src/web/pages/",), ("web",), ("can we use React here?",)),
    SampleRecord(284, "decision", "Seats are held for ten minutes", "A row with an expiry; a job frees it",
                 ("src/booking/seats/",), ("booking",), ("two people get the same seat",)),
    SampleRecord(120, "decision", "Seats are held for five minutes", "Ten minutes emptied the ferry on Fridays",
                 ("src/booking/seats/",), ("booking",), ("how long is a seat held?",)),
    SampleRecord(260, "constraint", "Schema changes only by migration", "Write a migration; never edit an old one",
                 ("src/db/migrations/**",), ("database",), ("add a column", "new field for bookings")),
    SampleRecord(244, "preference", "Tests name the behaviour, not the function", "test_a_late_ferry_is_refunded",
                 ("tests/booking/",), ("tests",), ("write a test for this",)),
    SampleRecord(231, "runbook", "Bookings fail with “could not serialize access”", "Two jobs take the same seat",
                 ("src/jobs/file_3.py",), ("database",), ("could not serialize access due to concurrent update",)),
    SampleRecord(190, "tech_debt", "Refunds are calculated in two places", "The job and the page disagree by a cent",
                 ("src/payments/refunds/file_2.py",), ("payments",), ()),
    SampleRecord(166, "decision", "Payments go through one provider", "Adyen for cards and wallets",
                 ("src/payments/file_1.py",), ("payments",), ("add a payment method",)),
    SampleRecord(151, "constraint", "Card numbers never reach our servers", "Use the provider's hosted fields",
                 ("src/payments/file_3.py", "src/payments/file_4.py"), ("payments", "security"), ("store the card for later",)),
    SampleRecord(97, "runbook", "Deploy stops at “waiting for health check”", "The migration holds a lock",
                 ("deploy/terraform/file_1.py",), ("deploy",), ("deploy hangs at the health check",)),
    SampleRecord(80, "preference", "Dates in words in the interface", "3 March 2026, never 03/03/26",
                 ("src/web/components/file_1.py", "src/web/components/file_2.py"), ("web",), ("format a date",)),
    SampleRecord(61, "decision", "Search runs on Postgres full text", "No second system for 40,000 rows",
                 (), ("search",), ("should we add Elasticsearch?",)),
    SampleRecord(34, "constraint", "Prices are shown with tax", "The law wants the final price first",
                 ("src/web/pages/",), ("payments", "web"), ()),
    SampleRecord(12, "tech_debt", "Terraform state is kept by hand", "One person runs apply", ("deploy/terraform/file_0.py",),
                 ("deploy",), ()),
    SampleRecord(3, "session_summary", "Seat holds moved to the booking service", "Holds are rows now", (), (), ()),
)  # fmt: skip


def fill(root: Path) -> Project:
    """Create the project."""
    repository = GitProject(root)
    for folder, number in _FOLDERS.items():
        for position in range(number):
            repository.write(f"{folder}/file_{position}.py", f"# {folder} {position}\n")
    repository.commit()
    project = Project(str(root))
    paths = {record.title: _save(project, record) for record in RECORDS}
    writer = Writer(project.store, project.settings)
    writer.supersede(paths["Sessions live in Redis"], paths["Sessions live in Postgres"])
    writer.supersede(paths["Seats are held for ten minutes"], paths["Seats are held for five minutes"])
    _draft(project)
    _use(project, list(paths.values())[1:17])
    repository.write("src/payments/refunds/file_2.py", "# rounded once\n")
    repository.write("src/auth/file_0.py", "EXPIRY = 30\n")
    return project


def _content(record: SampleRecord) -> dict[str, object]:
    title, text = record.title, record.text
    by_category: dict[str, dict[str, object]] = {
        "decision": {"context": "It came up in a review", "decision": text, "rationale": ["one part fewer"]},
        "constraint": {"kind": "policy", "rule": text, "impact": ["customers see it"], "severity": "high"},
        "preference": {"topic": title, "value": text, "reason": "a reader sees at once what broke"},
        "runbook": {
            "trigger": title, "symptoms": [title], "root_cause": text, "steps": ["find the lock", "run it again"],
            "verification": "the log is quiet",
        },
        "tech_debt": {
            "description": text, "status": "open", "priority": "medium", "reason_deferred": "no time before the season",
            "impact": ["confusing"], "suggested_fix": "one function",
        },
        "session_summary": {
            "goal": title, "outcome": "success", "completed": [text], "in_progress": [], "key_changes": [text],
            "next_actions": [],
        },
    }  # fmt: skip
    return by_category[record.category]


def _save(project: Project, record: SampleRecord) -> str:
    fields = {
        "title": record.title,
        "content": _content(record),
        "tags": list(record.tags),
        "related_files": list(record.files),
        "triggers": list(record.triggers),
    }
    now = timestamps.days_before(timestamps.now(), record.days)
    return Writer(project.store, project.settings).save(compose.compose(record.category, fields, now=now)).path


def _draft(project: Project) -> None:
    box = Inbox(project.store.root)
    for title, quote in (
        ("Use uv for every install", "let's use uv for every install, pip takes a minute"),
        ("Sign release tags", "from now on every release tag is signed"),
        ("Refunds keep the currency of the payment", "refund in the currency they paid with, always"),
    ):
        content = {"context": "Said in a session", "decision": title, "rationale": ["it was agreed"]}
        box.put(inbox.new_draft(compose.compose("decision", {"title": title, "content": content}), evidence=(quote,)))


def _use(project: Project, paths: list[str]) -> None:
    """Write the logs of twelve weeks: what was shown, and what became of it."""
    choice = random.Random(7)
    now = timestamps.seconds(timestamps.now())
    events: list[Event] = []
    days: list[str] = []
    for number in range(110):
        moment = now - 120 - choice.random() ** 1.4 * 80 * _DAY if number else now - 240
        host, session = choice.choice(_HOSTS), event_log.session_key(f"session {number}")
        events.append(_event(moment, "shown", host, session, "start", "map", str(len(paths))))
        for _ in range(choice.randint(1, 3)):
            path, moment = choice.choice(paths), min(moment + choice.random() * 400, now - 60)
            form = "pointer" if choice.random() < 0.2 else "rule"
            occasion = choice.choice(("prompt", "prompt", "file", "command", "failure"))
            events.append(_event(moment, "shown", host, session, occasion, form, path))
            day = timestamps.from_seconds(moment)[:10]
            days.append(f"{day}\t{'pointed' if form == 'pointer' else 'injected'}\t{path}\t1\n")
            likely = (40, 20, 22, 18) if path in paths[-2:] else (54, 28, 0, 18)
            outcome = choice.choices(("used", "ignored", "corrected", ""), likely)[0]
            if outcome:
                events.append(_event(moment + 30, outcome, host, session, "", "", path))
            if outcome == "used":
                days.append(f"{day}\topened\t{path}\t1\n")
            if outcome == "corrected":
                days.append(f"{day}\tcorrected\t{path}\t1\t{host}\n")
    root = project.store.root
    _write(event_log.log_file(root), "".join(map(event_log.render, sorted(events))))
    _write(usage_log.log_file(root), "".join(days))


def _event(moment: float, what: str, host: str, session: str, occasion: str, form: str, path: str) -> Event:
    return Event(f"{timestamps.from_seconds(moment)[:19]}Z", what, host, session, occasion, form, path)


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
