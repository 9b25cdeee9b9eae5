"""A project with something of everything that the pages show, on fixed days: its pages are the same in every run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onrecord import timestamps
from onrecord.hosts import connection
from onrecord.project import Project
from onrecord.record import compose
from onrecord.store import inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Store
from onrecord.store.writer import Writer
from onrecord.usage import event_log, usage_log
from onrecord.usage.event_log import Event
from tests.git_project import GitProject
from tests.sessions import codex, say
from tests.web import served

NOW = "2026-06-15T12:00:00Z"
_ADR = "# Use uv\n\n## Context\n\npip takes a minute.\n\n## Decision\n\nuv installs everything.\n"


class Everything:
    """The project, and the day that the program believes it is."""

    def __init__(self, root: Path, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.home = home
        self._now = NOW
        patch.setattr(timestamps, "now", lambda: self._now)
        patch.setattr(connection.shutil, "which", lambda program: None)
        self.repository = GitProject(root)
        for name in ("src/auth/session.py", "src/auth/token.py", "src/web/page.py", "docs/adr/0001-uv.md", "README.md"):
            self.repository.write(name, f"# {name}\n" if name.endswith(".py") else _ADR)
        self.repository.commit()
        self.project = Project(str(root))
        self._records()
        self._drafts()
        self._use()
        self._other_stores()
        self.repository.write("src/auth/session.py", "EXPIRY = 30\n")
        self._now = NOW

    @property
    def writer(self) -> Writer:
        return Writer(self.project.store, self.project.settings)

    def _save(self, day: str, category: str, title: str, content: dict[str, object], **fields: object) -> str:
        self._now = f"{day}T09:30:00Z"
        return self.writer.save(compose.compose(category, {"title": title, "content": content, **fields})).path

    def _decide(self, day: str, title: str, decision: str, **fields: object) -> str:
        content = {"context": "Redis lost sessions", "decision": decision, "rationale": ["one part fewer"]}
        return self._save(day, "decision", title, content, **fields)

    def _records(self) -> None:
        redis = self._decide("2025-11-03", "Sessions live in Redis", "Redis with a replica", tags=["auth"])
        self.sessions = self._decide(
            "2026-03-02",
            "Sessions live in Postgres",
            "Rows in auth.sessions, 14 day expiry",
            tags=["auth", "database"],
            triggers=["where do we keep login state?"],
            related_files=["src/auth/session.py", "src/auth/"],
        )
        self.writer.supersede(redis, self.sessions)
        entry = self.project.store.read(self.sessions)
        self.old_hash = entry.hash
        self._now = "2026-04-20T10:00:00Z"
        self.writer.update(entry.path, {"content": {"decision": "Rows in auth.sessions, 30 day expiry"}}, entry.hash)
        rule = {"kind": "policy", "rule": "Install with uv", "impact": ["pip is slow"], "severity": "high"}
        checks = [{"on": "command", "starts": ["pip install"]}]
        self.rule = self._save("2026-05-04", "constraint", "Install with uv, not pip", rule, checks=checks)
        taste = {"topic": "tests", "value": "Names say the behaviour", "reason": "a reader sees what broke"}
        self.retired = self._save(
            "2026-05-05", "preference", "Tests name the behaviour", taste, related_files=["gone.py"]
        )
        self.writer.retire(self.retired, "everybody does it")
        for day in ("2026-06-01", "2026-06-02"):
            self._decide(day, f"Cache wheels in CI since {day[-1]} June", "A cache for each lock file")
        steps = {"trigger": "503", "symptoms": ["503"], "steps": ["find it", "end it"], "verification": "200"}
        self._save("2026-06-03", "runbook", "Deploy stops", steps, tags=["deploy"], related_files=["src/**/*.py"])
        Path(self.project.store.root, "decisions", "broken.json").write_text("{", encoding="utf-8")
        checks = [{"on": "command", "starts": ["psql"]}]
        jobs = self._decide("2026-06-04", "Jobs are rows", "A table of jobs", checks=checks)
        one_sided = Path(self.project.store.root, jobs)
        one_sided.write_text(json.dumps({**json.loads(one_sided.read_text()), "supersedes": ["deploy-stops"]}))

    def _drafts(self) -> None:
        box = Inbox(self.project.store.root)
        content = {"context": "Said in a session", "decision": "Sign each tag", "rationale": ["it was agreed"]}
        for day, title, about in (
            ("2026-06-05", "Sign release tags", {"evidence": ("sign them all",), "session": "one"}),
            ("2026-06-06", "Sessions live in Postgres rows", {"note": "The table is left out."}),
            ("2026-06-07", "Cache wheels for a week", {"updates": "cache-wheels-in-ci-since-1-june"}),
        ):
            self._now = f"{day}T08:00:00Z"
            fields = {"title": title, "content": content, "tags": ["release"], "triggers": ["make a release"]}
            box.put(inbox.new_draft(compose.compose("decision", fields), **about))
        Path(self.project.store.root, "inbox", "unreadable.json").write_text("{", encoding="utf-8")

    def _use(self) -> None:
        root, session = self.project.store.root, event_log.session_key("one")
        moments = ("2026-05-06T10:00:00Z", "2026-06-14T11:00:00Z", "2026-06-15T10:00:00Z")
        events = [Event(moments[0], "shown", "codex", session, "start", "map", "7")]
        for moment, path, form, outcome in (
            (moments[0], self.rule, "rule", "corrected"),
            (moments[1], self.sessions, "pointer", "used"),
            (moments[2], self.sessions, "rule", ""),
            (moments[2], "decisions/gone.json", "rule", "ignored"),
            ("2026-06-03T10:00:00Z", self.rule, "rule", "corrected"),
            ("2026-06-04T10:00:00Z", self.rule, "rule", "corrected"),
        ):
            key = event_log.session_key(f"{moment}{path}")
            events.append(Event(moment, "shown", "claude-code", key, "prompt", form, path))
            events += [Event(moment, outcome, "claude-code", key, "", "", path)] if outcome else []
            self._now = moment
            usage_log.append(root, [("pointed" if form == "pointer" else "injected", path)])
            if outcome == "used":
                usage_log.append(root, [("opened", path)])
            elif outcome == "corrected":
                usage_log.add_correction(root, path, "codex")
        log = Path(event_log.log_file(root))
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(map(event_log.render, sorted(events))), encoding="utf-8")
        for day in ("2026-05-01", "2026-05-02", "2026-06-09"):
            codex(
                self.home, self.project.root, f"{day}T10:00:00Z", say("a", "pip install x", "psql"), say("no, use uv")
            )

    def _other_stores(self) -> None:
        self._now = "2026-06-08T10:00:00Z"
        content = {"topic": "indentation", "value": "tabs", "reason": "width"}
        own = compose.compose("preference", {"title": "Tabs, never spaces", "content": content})
        Writer(self.project.user, self.project.settings).save(own)
        self.shared: Store = served.conflict(self.project)
