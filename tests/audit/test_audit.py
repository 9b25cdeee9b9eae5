"""Audit of a store: it finds outdated records and leaves the others alone, and only reads notes of other tools."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from onrecord.audit import audit_item, report
from onrecord.audit.audit_item import AuditItem
from onrecord.audit.report import Evidence, Measure
from onrecord.cli import main
from onrecord.errors import BadInput
from onrecord.importers import memories
from onrecord.record import compose
from onrecord.record.memory import Memory
from tests import cost
from tests.git_project import GitProject

DECISION = {"context": "It had to be settled.", "rationale": ["It was measured."]}
TOKEN = "ghp_" + "a1B2" * 9


def decision(title: str, text: str = "", **more: Any) -> Memory:
    content = {**DECISION, "decision": text or title}
    return compose.compose("decision", {"title": title, "content": content, **more})


def preference(title: str, topic: str, value: str, **more: Any) -> Memory:
    return compose.compose("preference", {"title": title, "topic": topic, "value": value, "reason": "habit", **more})


def audit(*records: Memory, evidence: Evidence = Evidence()) -> dict[str, Measure]:  # noqa: B008
    return report.audit([audit_item.from_record(record) for record in records], evidence)


def hits(measures: Mapping[str, Measure]) -> dict[str, int]:
    return {name: measure.hits for name, measure in measures.items() if measure.hits}


def test_a_sound_store_shows_no_rot() -> None:
    measures = audit(
        decision(
            "Use Postgres for billing", "Invoices live in PostgreSQL 16, in the billing schema, one row per line."
        ),
        decision("Use Redis for session cache", "Sessions are kept in Redis 7 with a TTL of 30 minutes."),
        preference("Four spaces", "Python indentation", "four spaces, never tabs, in every Python file"),
    )

    assert hits(measures) == {}
    unmeasured = {name for name, measure in measures.items() if measure.rate is None}
    assert unmeasured == {"changed", "missing", "checks", "authority"}


@pytest.mark.parametrize(
    ("words", "parts"),
    [("", []), ("a", ["a"]), ("a b", ["a", "b"]), ("a b c", ["a b", "b c"]), ("a b a b", ["a b", "b a"])],
)
def test_wording_is_compared_by_pairs_of_words_where_there_are_two_of_them(words: str, parts: list[str]) -> None:
    assert audit_item.shingles(words.split()) == frozenset(parts)


class TestDuplicates:
    TEXT = "Every request to a carrier waits at most eight seconds, then the breaker opens for a minute and we queue it"

    def test_two_that_say_nearly_the_same_are_one_too_many(self) -> None:
        measures = audit(
            decision("Carrier timeouts", self.TEXT),
            decision("Timeouts of carriers", self.TEXT + " again"),
            decision("Something else", "Pull requests need two reviews before they may be merged to the main branch."),
        )

        assert measures["duplicates"].rate == pytest.approx(1 / 3)
        assert measures["duplicates"].findings[0].ids == ("carrier-timeouts", "timeouts-of-carriers")

    def test_one_that_was_replaced_is_no_duplicate(self) -> None:
        old = decision("Carrier timeouts", self.TEXT)._replace(superseded_by="timeouts-of-carriers")
        new = decision("Timeouts of carriers", self.TEXT)._replace(supersedes=("carrier-timeouts",))

        assert hits(audit(old, new)).get("duplicates") is None

    def test_a_text_in_another_script_is_compared_too(self) -> None:
        text = "認証サービスは三十秒でタイムアウトし再試行は二回までとする決定を行った"

        measures = audit(decision("認証の決定", text), decision("認証タイムアウト", text + "。"))

        assert measures["duplicates"].hits == 1

    def test_pairs_found_are_exactly_those_above_the_threshold(self) -> None:
        sets = [frozenset(f"w{(seed * 7 + n) % 40}" for n in range(12)) for seed in range(60)]
        expected = {
            (first, second)
            for second in range(len(sets))
            for first in range(second)
            if audit_item.similarity(sets[first], sets[second]) >= 0.6
        }

        assert set(audit_item.similar_pairs(sets, 0.6)) == expected
        assert expected

    def test_texts_that_are_left_out_early_are_in_no_group(self) -> None:
        words = [f"w{number}" for number in range(50)]
        rng = random.Random(7)
        copies = [rng.choices(words, k=30) for _ in range(40)]
        streams = [stream[rng.randrange(4) :] for stream in copies * 3] + [
            [f"only{n}", "x", f"y{n}"] for n in range(99)
        ]
        streams += [["a"], ["b"], ["a"], []]

        groups = audit_item.similar_texts(streams, 0.6)

        assert groups == audit_item.clusters([audit_item.shingles(stream) for stream in streams], 0.6)
        assert len(groups) == 41


def test_no_false_alarm_in_the_benchmark_sets() -> None:
    sets = Path(__file__).parents[2] / "bench" / "sets"
    for file in (sets / name / "records.jsonl" for name in ("harbor", "lumen", "quarry")):
        raws = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        measures = audit(*(compose.compose(raw["category"], raw) for raw in raws))

        assert hits({name: measures[name] for name in ("duplicates", "secrets", "junk")}) == {}
        assert measures["duplicates"].of > 50


class TestSuperseded:
    def test_what_is_replaced_and_says_it_holds_is_found(self) -> None:
        old = decision("Old way")._replace(superseded_by="new-way")

        assert audit(old, decision("New way"))["superseded"].findings[0].ids == ("old-way",)

    def test_what_does_not_know_that_it_was_replaced_is_found(self) -> None:
        measure = audit(decision("Old way"), decision("New way")._replace(supersedes=("old-way",)))["superseded"]

        assert measure.findings[0].fix == "read it, and remove the claim: onrecord edit new-way"

    def test_a_proper_pair_is_left_alone(self) -> None:
        old = decision("Old way", status="superseded")._replace(superseded_by="new-way")
        soft = preference("Soft", "topic", "value of it")._replace(superseded_by="new-way")

        assert audit(old, soft, decision("New way"))["superseded"].hits == 0


def test_what_others_know_is_counted() -> None:
    evidence = Evidence(changed={"one": "`a` changed"}, missing={"two": "`b` is gone"})

    measures = audit(decision("One"), decision("Two"), evidence=evidence)

    assert hits({name: measures[name] for name in ("changed", "missing")}) == {"changed": 1, "missing": 1}
    assert measures["missing"].findings[0].ids == ("two",)


def test_secrets_are_found_and_masked_in_retired_records_too() -> None:
    record = decision("Token")
    leaking = record._replace(content={**record.content, "decision": f"use {TOKEN}"}, record_status="retired")

    (finding,) = audit(leaking)["secrets"].findings

    assert "a GitHub token" in finding.message
    assert TOKEN not in finding.message


def test_a_memory_nobody_reads_to_the_end_is_overlong() -> None:
    assert audit(decision("Long", "so it went on and on, " * 200))["overlong"].hits == 1


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Untitled", "Something that seems to matter a great deal"),
        ("Note 7", "Something that seems to matter a great deal"),
        ("Result", "TODO"),
        ("Chat", "User: hello there\nAssistant: how can I help you today?"),
        ("Recalled", '<memory-context source="x"><result>Use Postgres</result></memory-context>'),
        ("Log", "2026-03-01 10:00:01 INFO started\n" * 5),
        ("Blob", "a1b2c3d4e5f6a7b8c9d0" * 30),
        ("ok", "done"),
        ("1", "Never push to the main branch without a review by somebody else."),
        ("8", "Prefer composition to inheritance in everything that has to do with widgets."),
        ("2) Non-Negotiables", "Never push to the main branch without a review by somebody else."),
        ("Guidelines", "Never push to the main branch without a review by somebody else."),
        ("Styling of the application", "option 2"),
        ("Styling of the application", "Option C with a fallback to option E"),
        ("Bundler of the client", "We chose the option B."),
        ("Styling of the application", 's: "CSS variables" and "SCSS.'),
        ("Tone of the help pages", "See section 9 for phrasing"),
        ("Tone of the help pages", "Refer to docs/style.md."),
        ("Tone of the help pages", "Write in the second person.\nIt goes against CLAUDE.md"),
        ("Tone of the help pages", "Write in the second person.\nbase.md says so"),
    ],
)
def test_junk_is_found(title: str, text: str) -> None:
    assert report.audit([AuditItem("x", "x", title, text)], Evidence())["junk"].hits == 1


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Error handling", "Raise `AppError(code)`; a traceback reaches the log, never the user."),
        ("テスト方針", "統合テストを使う"),
        ("Ports", "5432 is Postgres, 6379 Redis, 9092 Kafka; nothing else may listen on those."),
        ("Use option types", "Option types instead of null: Option<T> in Rust, Optional in Java."),
        ("Option A for billing: Stripe", "Stripe, because the webhook already exists; option B was a bank transfer."),
        ("See errors early", "See errors where they happen: no catch-all above the request handler."),
        ("Rules for retries", "3 tries, 200 ms apart, then give up."),
        ("2FA for everybody", "Everybody signs in with a second factor from 1 March on."),
        ("Quotes in CSV", 'Fields with a comma are put between " and ", as RFC 4180 says.'),
    ],
)
def test_what_is_short_and_useful_is_not_junk(title: str, text: str) -> None:
    assert report.audit([AuditItem("x", "x", title, text)], Evidence())["junk"].hits == 0


@pytest.mark.heavy
def test_the_work_grows_with_the_store_and_not_with_its_pairs() -> None:
    def items(count: int) -> list[AuditItem]:
        return [
            AuditItem(
                f"i{n}",
                f"i{n}",
                f"Use tool{n % 50} for job{n}",
                f"heartbeat {n} of the same long text " * 4,
                "decision",
            )
            for n in range(count)
        ]

    small, large = items(500), items(4_000)

    # Eight times the records: 64 times the cost if each were compared with all others.
    cost.assert_at_most(24, lambda: report.audit(small, Evidence()), lambda: report.audit(large, Evidence()))


class TestForeign:
    def test_an_auto_memory_folder_is_a_memory_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "MEMORY.md").write_text("# Memory\n\n- [Testing](feedback_testing.md): how we test\n")
        (tmp_path / "feedback_testing.md").write_text(
            "---\nname: Testing\ndescription: how we test\ntype: feedback\nmodified: 2026-02-01T10:00:00Z\n---\n\n"
            "Integration tests hit a real database.\n"
        )

        (item,) = memories.claude_memory(str(tmp_path))

        assert (item.title, item.text, item.tags, item.updated) == (
            "Testing",
            "Integration tests hit a real database.",
            ("feedback",),
            "2026-02-01T10:00:00Z",
        )

    def test_an_index_that_holds_notes_itself_counts_by_section(self, tmp_path: Path) -> None:
        (tmp_path / "MEMORY.md").write_text("# Notes\n\n## Build\nUse make all.\n\n## Deploy\nPush a tag.\n")

        assert [item.title for item in memories.claude_memory(str(tmp_path))] == ["Build", "Deploy"]

    def test_a_markdown_folder_is_a_memory_a_section(self, tmp_path: Path) -> None:
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "patterns.md").write_text(
            "# Patterns\n\n### Retry\nRetry twice.\n\n```\n# not a heading\n```\n\n### Cache\nCache for an hour.\n"
        )
        (tmp_path / ".hidden").mkdir()
        (tmp_path / ".hidden" / "x.md").write_text("# X\nx\n")

        items = memories.markdown_folder(str(tmp_path))

        assert [(item.path, item.title) for item in items] == [
            ("deep/patterns.md#Retry", "Retry"),
            ("deep/patterns.md#Cache", "Cache"),
        ]
        assert "# not a heading" in items[0].raw["text"]

    def test_what_was_read_is_there_line_by_line(self, tmp_path: Path) -> None:
        (tmp_path / "a.md").write_text("# A\nFirst.\n## B\nSecond.\n## C\nThird.\n")

        (item,) = memories.claude_memory(str(tmp_path))

        assert [line for line in item.raw["text"].split("\n") if line] == ["First.", "Second.", "Third."]

    def test_links_out_of_the_folder_are_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "secret.md").write_text("outside\n")
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "link.md").symlink_to(tmp_path / "secret.md")

        assert memories.markdown_folder(str(tmp_path / "notes")) == []

    def test_a_folder_that_is_not_there_is_said_so(self) -> None:
        with pytest.raises(BadInput, match="is not a folder") as caught:
            memories.markdown_folder("/nowhere/at/all")
        assert caught.value.fix == "name the folder of the Markdown files"


class TestCommand:
    @pytest.fixture
    def project(self, tmp_path: Path) -> GitProject:
        git_project = GitProject(tmp_path / "project")
        git_project.write("src/auth.py", "one\n")
        git_project.commit()
        for title in ("Use Postgres for session storage", "Use Redis for session storage"):
            self.save(git_project, title)
        return git_project

    def save(self, project: GitProject, title: str) -> None:
        words = ["save", "decision", title, "--set", f"decision={title} from now on", "--set", "context=c", "--set",
                 "rationale=r", "--related", "src/auth.py", "--force", "--project", str(project.root)]  # fmt: skip
        assert main(words) == 0

    def test_rates_are_told_and_a_limit_makes_it_fail(
        self, project: GitProject, capsys: pytest.CaptureFixture[str]
    ) -> None:
        project.write("src/auth.py", "two\n")
        capsys.readouterr()

        assert main(["audit", "--json", "--project", str(project.root)]) == 0
        output = json.loads(capsys.readouterr().out)
        rates = {name: check["rate"] for name, check in output["checks"].items()}
        assert (output["memories"], rates["changed"], rates["secrets"]) == (2, 1.0, 0.0)
        assert "unused" not in rates

        assert main(["audit", "--max-rate", "changed=10%", "--project", str(project.root)]) == 1
        assert "changed\t100.0%\t2 of 2\ttoo high" in capsys.readouterr().out
        assert main(["audit", "--max-rate", "secrets=0", "--project", str(project.root)]) == 0
        assert main(["audit", "--max-rate", "0.5", "--project", str(project.root)]) == 1

    def test_strict_minds_neither_drift_nor_duplicates(self, tmp_path: Path) -> None:
        project = GitProject(tmp_path / "project")
        project.write("src/auth.py", "one\n")
        project.commit()
        self.save(project, "Use Postgres for session storage")
        self.save(project, "Use Postgres for the session storage")
        project.write("src/auth.py", "two\n")

        assert main(["audit", "--max-rate", "0", "--project", str(project.root)]) == 1
        assert main(["audit", "--strict", "--project", str(project.root)]) == 0
        assert main(["audit", "--strict", "--max-rate", "changed=0", "--project", str(project.root)]) == 1

    def test_strict_refuses_a_record_that_cannot_be_read(
        self, project: GitProject, capsys: pytest.CaptureFixture[str]
    ) -> None:
        records = sorted((project.root / ".claude" / "memory" / "decisions").glob("*.json"))
        records[0].write_text("{")

        assert main(["audit", "--project", str(project.root)]) == 0
        assert main(["audit", "--strict", "--project", str(project.root)]) == 1
        assert capsys.readouterr().err.splitlines()[-1] == "refused by --strict: records that cannot be read"

    @pytest.mark.parametrize("check", ["superseded", "secrets"])
    def test_strict_refuses_each_serious_check(
        self, tmp_path: Path, check: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        project = GitProject(tmp_path / "project")
        project.commit()
        self.save(project, "Use Postgres for session storage")
        (record,) = (project.root / ".claude" / "memory" / "decisions").glob("*.json")
        changes = {
            "superseded": {"status": "superseded"},
            "secrets": {"decision": f"the key is AKIA{'IOSFODNN7EXAMPLF'}"},
        }
        data = json.loads(record.read_text())
        data["content"].update(changes[check])
        record.write_text(json.dumps(data))

        assert main(["audit", "--strict", "--project", str(project.root)]) == 1
        printed = capsys.readouterr()
        assert f"{check}\t100.0%\t1 of 1\ttoo high" in printed.out
        assert printed.err.splitlines()[-1] == f"refused by --strict: {check}"

    @pytest.mark.parametrize(
        ("count", "more"), [(5, ""), (6, "  and 1 more (--all shows them)"), (7, "  and 2 more (--all shows them)")]
    )
    def test_five_findings_of_a_kind_are_shown_and_the_rest_counted(
        self, tmp_path: Path, count: int, more: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = tmp_path / "memory"
        folder.mkdir()
        for number in range(count):
            (folder / f"{number}.md").write_text(
                f"# Note {number}\n\nThe key of host {number} is {TOKEN[:-1]}{number}.\n"
            )
        words = ["audit", "--markdown", str(folder), "--project", str(tmp_path)]

        outputs = []
        for option in ([], ["--all"]):
            assert main([*words, *option]) == 0
            sections = dict(part.split("\n", 1) for part in capsys.readouterr().out.rstrip("\n").split("\n\n"))
            outputs.append(sections["secrets"].split("\n"))
        short, whole = outputs

        assert short == [*whole[:10], *([more] if more else [])]
        assert len(whole) == 2 * count

    @pytest.mark.parametrize("limit", ["lots", "-1", "150%", "rot=0.1", "nan"])
    def test_a_limit_that_is_none_is_refused(
        self, project: GitProject, limit: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["audit", f"--max-rate={limit}", "--project", str(project.root)]) == 2
        assert capsys.readouterr().err.startswith("onrecord audit: --max-rate must be a rate such as")

    def test_somebody_elses_notes_are_read_and_not_touched(
        self, project: GitProject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = tmp_path / "memory"
        folder.mkdir()
        (folder / "a.md").write_text(f"---\nname: Key\n---\nThe key is {TOKEN} and lives in `src/gone.py` today.\n")
        (folder / "b.md").write_text(
            "---\nname: Login\n---\nThe login lives in `src/auth.py` and nowhere else at all.\n"
        )
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
        capsys.readouterr()

        words = ["audit", "--claude-memory", str(folder), "--json", "--project", str(project.root)]
        assert main(words) == 0

        checks = json.loads(capsys.readouterr().out)["checks"]
        assert {name: check["count"] for name, check in checks.items() if check["count"]} == {
            "missing": 1,
            "secrets": 1,
        }
        assert checks["missing"]["findings"] == [
            {
                "ids": ["a.md"],
                "message": "names src/gone.py, which does not exist",
                "fix": "correct or remove the note; it was only read",
            }
        ]
        assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before
