"""Whether a record is in force: every surface gives the same answer for every combination of its fields."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from onrecord.audit import audit_item
from onrecord.cli import main
from onrecord.project import Project
from onrecord.recall import for_check
from onrecord.record import validity
from onrecord.record.check import parse
from onrecord.record.memory import Memory
from onrecord.search import index, listing, overview, query, rank
from onrecord.search.candidates import Filter
from onrecord.search.listing import ListingFilter
from tests.records import CONTENT, put, sample

STATUSES = ("active", "retired", "archived")
DECISIONS = ("proposed", "accepted", "deprecated", "superseded")
EXPIRES = ("", "2020-01-31", "2999-01-31", "12 months after launch")
CHECK = parse({"on": "command", "starts": ["npm install"], "say": "run pnpm add"})


def all_records() -> list[Memory]:
    """Return a record for every combination; of each decision two more that say they were replaced, one alone."""
    records = []
    for status, said, link in itertools.product(STATUSES, DECISIONS, ("", "both", "one")):
        name = f"d-{status}-{said}-{link or 'no'}"
        content = {**CONTENT["decision"], "status": said, "decision": f"{name} holds for zebra{len(records)}"}
        new = f"{name}-new" if link else ""
        records.append(sample(id=name, title=name, content=content, record_status=status, superseded_by=new))
        if link:
            supersedes = (name,) if link == "both" else ()
            records.append(sample(id=new, title=new, supersedes=supersedes))
    for status, active, expires in itertools.product(STATUSES, (True, False), EXPIRES):
        name = f"c-{status}-{'on' if active else 'off'}-{EXPIRES.index(expires)}"
        content = {**CONTENT["constraint"], "rule": f"{name} is the limit", "active": active}
        content |= {"expires": expires} if expires else {}
        records.append(sample("constraint", id=name, title=name, content=content, record_status=status))
    return [
        record._replace(checks=(CHECK,), triggers=(f"unicorn{number} question",), tags=(), related_files=())
        for number, record in enumerate(records)
    ]


def expected(records: list[Memory]) -> set[str]:
    """Return the ids that are in force, spelled out without the code under test."""
    in_force = set()
    for record in records:
        is_replaced = any(record.id in other.supersedes for other in records) and bool(record.superseded_by)
        is_over = record.content.get("status") in ("deprecated", "superseded") or record.content.get("active") is False
        is_over = is_over or record.content.get("expires") == "2020-01-31"
        if record.record_status == "active" and not is_replaced and not is_over:
            in_force.add(record.id)
    return in_force


@pytest.fixture
def store_root(project: Path) -> str:
    root = str(project / ".claude/memory")
    for record in all_records():
        put(root, record)
    return root


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "ferry"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


def test_every_surface_agrees_on_what_is_in_force(store_root, project, capsys):
    records = all_records()
    store_index = index.open(store_root)
    settings, now = Project(str(project)).settings, Filter("auto")

    surfaces = {
        "links": {record.id for record in validity.current(records)},
        "audit": {item.id for item in audit_item.from_records(records) if item.is_current},
        "list": {row.id for row in listing.read(store_index, ListingFilter(status="active"), None)[0]},
        "map": {row.id for row in overview.all_current(store_index)},
        "prompts": {
            match.id
            for record in records
            for match in rank.find(store_index, query.parse(record.triggers[0]), now, limit=3)
            if match.via is None
        },
        "check": {one.record_id for one in for_check.in_force(Project(str(project)).stores, settings)},
        "export": _exported(capsys, "--format", "jsonl"),
        "AGENTS.md": _in_section(records),
    }

    assert surfaces == dict.fromkeys(surfaces, expected(records))


def _exported(capsys, *flags: str) -> set[str]:
    capsys.readouterr()
    assert main(["export", *flags]) == 0
    return {json.loads(line)["id"] for line in capsys.readouterr().out.splitlines() if line.startswith("{")}


def _in_section(records: list[Memory]) -> set[str]:
    assert main(["export", "--into", "AGENTS.md"]) == 0
    lines = Path("AGENTS.md").read_text(encoding="utf-8").splitlines()
    words = {word.strip(":*`.;") for line in lines for word in line.split()}
    return {record.id for record in records if record.title in words}


def test_the_pages_name_the_same_status_as_the_list(store_root, project):
    pytest.importorskip("starlette", reason="the extra web is not installed")
    from tests.web.conftest import Browser

    rows, _ = listing.read(index.open(store_root), ListingFilter(), None)
    browser = Browser(project)

    for row in rows:
        folder, name = row.path.split("/")
        page = browser.get(f"/record/project/{folder}/{name}").text
        facts = page.partition('<p class="facts">')[2].partition("</p>")[0]
        badges = [status for status in ("superseded", "outdated", *STATUSES) if f"status-{status}" in facts]
        assert (badges or ["active"]) == [row.status], row.path


@pytest.mark.parametrize(
    ("expires", "day", "is_over"),
    [
        ("2026-03-01", "2026-03-01T23:00:00Z", False),
        ("2026-03-01", "2026-03-02", True),
        ("2026-03-01T10:00:00Z", "2026-03-02", True),
        ("12 months after launch", "2026-03-02", False),
        ("", "2026-03-02", False),
    ],
)
def test_a_record_holds_to_the_end_of_its_last_day_and_words_never_end(expires, day, is_over):
    record = sample("constraint", content={**CONTENT["constraint"], "expires": expires})

    assert validity.is_over(validity.is_void(record), validity.expiry(record), day) == is_over
