"""What a store refuses, in whole sentences, each with what to do; and what its log and its records say afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.errors import OnrecordError
from onrecord.record import lifecycle, memory
from onrecord.settings import Settings
from onrecord.store import generated_page, history, inbox
from onrecord.store.inbox import Inbox
from onrecord.store.store import Broken, Store
from onrecord.store.writer import Writer
from tests.records import LATER, NOW, sample


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(str(tmp_path / "store"))
    store.create(sample(id="a", title="A"))
    return store


def writer(store: Store, now: str = LATER) -> Writer:
    return Writer(store, Settings(), now)


def refusal(work, *arguments, **options) -> tuple[str, str]:
    with pytest.raises(OnrecordError) as error:
        work(*arguments, **options)
    return error.value.message, error.value.fix


class TestReading:
    def test_a_path_that_is_no_record(self, store: Store) -> None:
        root = Path(store.root)
        (root / "decisions/b.json").write_bytes(memory.render(sample(id="other")))
        (root / "decisions/folder.json").mkdir()

        assert refusal(store.read, "decisions/b.json") == (
            "decisions/b.json: says it is decisions/other.json",
            "make its `id` the file's name and its `category` the folder's, or rename the file",
        )
        assert refusal(store.read, "decisions/c.json") == ("there is nothing at decisions/c.json", "onrecord list")
        assert refusal(store.read, "decisions/\n.json") == ("there is nothing at 'decisions/\\n.json'", "onrecord list")
        message, fix = refusal(store.read, "decisions/folder.json")
        assert message.startswith("decisions/folder.json: ") and len(message) > len("decisions/folder.json: ")
        assert fix == "check the file's type and permissions"

    def test_a_link_to_nothing_is_broken_and_a_file_deleted_meanwhile_is_not(self, store: Store) -> None:
        (Path(store.root) / "decisions/b.json").symlink_to("nowhere")

        (broken,) = [entry for entry in store.scan() if isinstance(entry, Broken)]

        assert broken.path == "decisions/b.json"
        assert (broken.error.message, broken.error.fix) == (
            "decisions/b.json: a link to nothing",
            "remove decisions/b.json",
        )
        assert list(store._scan_file("decisions/gone.json")) == []

    def test_a_reference_to_no_record_or_to_two(self, store: Store) -> None:
        store.create(sample("runbook", id="b", title="B"))
        os.link(f"{store.root}/decisions/a.json", f"{store.root}/runbooks/a.json")

        assert refusal(store.get, "no-such it's") == (
            f'no record "no-such it\'s" in {store.root}',
            "onrecord search 'no such it'\"'\"'s'",
        )
        assert refusal(store.get, "a") == (
            "'a' is the id of decisions/a.json and runbooks/a.json",
            "name one by its path: decisions/a.json",
        )
        assert [record.id for record in store.records_named("a")] == ["a"]


class TestWriting:
    def test_an_id_that_is_taken(self, store: Store) -> None:
        (Path(store.root) / "decisions/b.json").write_text("{}")

        assert refusal(store.create, sample(id="b")) == (
            "there is a record 'b' already: decisions/b.json",
            "the file decisions/b.json is broken, to see why: onrecord doctor",
        )
        message, fix = refusal(store.create, sample(id="a"))
        assert message == "there is a record 'a' already: decisions/a.json"
        assert fix == "onrecord edit a; or give the new record another title"

    def test_a_version_that_is_not_the_current_one(self, store: Store) -> None:
        put = Inbox(store.root).put(inbox.new_draft(sample(id="b")))
        current = store.get("a").hash

        store.expect("decisions/a.json", current)
        store.expect("inbox/b.json", put.hash)
        assert refusal(store.expect, "decisions/a.json", "x" * 60) == (
            f"decisions/a.json was changed since it was read (it is {current} now, not {'x' * 39}…)",
            "read it again: onrecord show decisions/a.json --json; then apply the change to that",
        )
        assert refusal(store.expect, "inbox/b.json", "y") == (
            f"inbox/b.json was changed since it was read (it is {put.hash} now, not y)",
            "read it again: onrecord inbox; then apply the change to that",
        )

    def test_a_record_with_flaws_names_eight_and_the_first_to_correct(self, store: Store) -> None:
        tags = tuple(f"Tag {number}\n" for number in range(12))
        record = sample(id="b")._replace(tags=tags)

        message, fix = refusal(store.create, record)

        flaws = memory.flaws(record)
        assert len(flaws) > 8
        assert message == "; ".join(f"{flaw.where}: {flaw.message}" for flaw in list(flaws)[:8])
        assert fix == f"correct {flaws[0].where} and try again; nothing was written"

    def test_a_draft_that_is_gone_or_another_version(self, store: Store) -> None:
        box = Inbox(store.root)
        put = box.put(inbox.new_draft(sample(id="b", title="B"), session="s"))

        assert refusal(writer(store).reject, "gone") == (
            "the draft 'gone' is no longer in the inbox",
            "onrecord inbox",
        )
        assert refusal(writer(store).reject, "b", "other")[0].startswith("inbox/b.json was changed since it was read")
        assert refusal(writer(store).draft, [put._replace(hash="other")])[0].startswith("inbox/b.json was changed")
        assert refusal(box.put, put._replace(session="t")) == (
            "there is a draft 'b' in the inbox already",
            "onrecord review --accept b; or: onrecord review --reject b; then save again",
        )
        assert box.put(put._replace(session="t"), replacing=True).session == "t"
        for name in ("gone", "a/b"):
            assert refusal(box.get, name) == (f"no draft {name!r} in the inbox", "onrecord inbox")

    def test_a_circle_of_supersessions(self, store: Store) -> None:
        for name in ("b", "c"):
            store.create(sample(id=name, title=name.upper()))
        writer(store).supersede("a", "b")
        writer(store).supersede("b", "c")

        assert refusal(writer(store).supersede, "c", "a") == (
            "a is itself superseded by c",
            "swap the two: onrecord supersede a c",
        )

    def test_a_page_that_cannot_be_renewed_is_a_warning(self, tmp_path: Path) -> None:
        store = Store(str(tmp_path / ".claude" / "memory"))
        Path(store.root).mkdir(parents=True)
        (Path(store.root) / paths.CONFIG).write_text('{"export": {"file": "no such.md"}}')

        store.create(sample(id="a"))

        assert store.warnings == [
            "the records are saved, but export.file: no such file: no such.md; "
            f"to make it: onrecord export --file '{tmp_path}/no such.md'"
        ]


class TestPage:
    def test_a_page_that_is_not_ours_or_too_large_or_no_text(self, tmp_path: Path) -> None:
        page = tmp_path / "AGENTS.md"
        page.write_text("Mine.\n")
        assert refusal(generated_page.plan, str(page), []) == (
            f"'{page}' was not made by `onrecord export`",
            "name a new file, or add a section: --into",
        )
        page.write_text("<!-- onrecord: begin -->\n<!-- only: nonsense -->\n<!-- onrecord: end -->\n")
        assert refusal(generated_page.plan, str(page), []) == (
            f"the section of '{page}' cannot be updated: it names a category that does not exist",
            "delete the section",
        )
        page.write_text("<!-- onrecord: begin -->\n")
        assert refusal(generated_page.plan, str(page), []) == (
            f"'{page}' must have exactly one pair of marks",
            "leave one pair of <!-- onrecord: begin --> and <!-- onrecord: end -->, or none",
        )
        page.write_bytes(b"\xff")
        message, fix = refusal(generated_page.plan, str(page), [], may_add=True)
        assert message.startswith(f"cannot read '{page}': ") and fix == "name a text file in UTF-8"
        page.write_bytes("ü".encode() * 1_000_000)
        assert generated_page.plan(str(page), [], may_add=True).lines == 0
        page.write_bytes("ü".encode() * 1_000_000 + b"x")
        assert refusal(generated_page.plan, str(page), [], may_add=True) == (
            f"'{page}' is larger than 2,000,000 bytes",
            "name another file",
        )

    def test_a_new_page_lists_the_active_records_and_is_written_once(self, tmp_path: Path) -> None:
        page = tmp_path / "AGENTS.md"
        plan = generated_page.plan(str(page), [sample(id="a"), sample(id="b", record_status="retired")])

        assert (plan.before, plan.after, plan.lines, plan.is_fresh) == ("", plan.section, 1, False)
        plan.write()
        again = generated_page.plan(str(page), [sample(id="a")])
        assert (page.read_text(), again.is_fresh, again.file) == (plan.after, True, str(page))
        os.utime(page, (1, 1))
        again.write()
        assert page.stat().st_mtime == 1

    @pytest.mark.parametrize("name", ["AGENTS.md", "docs/rules.MDC", "a.txt", "no.git/x.md"])
    def test_a_setting_may_name_a_text_of_the_project(self, tmp_path: Path, name: str) -> None:
        assert generated_page.resolve(str(tmp_path), name) == os.path.join(os.path.realpath(tmp_path), name)

    @pytest.mark.parametrize("name", ["a.py", "README", ".git/x.md", "sub/.GIT/x.md", "md"])
    def test_a_setting_may_name_nothing_else(self, tmp_path: Path, name: str) -> None:
        assert refusal(generated_page.resolve, str(tmp_path), name) == (
            f"export.file names {name!r}",
            "name a file of the project that ends in .md, .mdc, .txt",
        )


def test_every_change_has_its_name_in_the_log(store: Store) -> None:
    for name in ("b", "c"):
        store.create(sample(id=name, title=name.upper()))
    by = writer(store)
    by.draft([inbox.new_draft(sample(id="d", title="D"))])
    by.save(sample(id="d", title="D"), draft=Inbox(store.root).get("d"))
    by.draft([inbox.new_draft(sample(id="e", title="E"))], action="import")
    by.accept([Inbox(store.root).get("e")])
    by.draft([inbox.new_draft(sample(id="f", title="F"))])
    by.reject("f")
    by.draft([inbox.new_draft(sample(id="f", title="F"))])
    by.update("a", {"tags": ["x"]}, store.get("a").hash, draft=Inbox(store.root).get("f"))
    by.update("a", {"tags": ["y"]}, store.get("a").hash)
    by.reanchor("a", {})
    by.retire("a", "r")
    by.restore("a")
    by.archive("a", "r")
    by.unarchive("a")
    by.supersede("a", "b")
    by.replace_shared("platform:x", "c")
    by.retire("d", "r")
    with store.writing() as batch:
        batch.put_config("{}")
    writer(store, "2100-01-01T00:00:00Z").collect()

    actions = (
        "save save save draft accept import accept draft reject draft merge update reanchor retire restore archive"
    )
    actions += " unarchive supersede supersede retire change gc"
    assert [change.action for change in history.read(store.root)] == actions.split()
    assert sorted(os.listdir(store.root)) == [
        ".lock", "decisions", "inbox", "index.md", "memory-config.json"
    ]  # fmt: skip
    assert store.warnings == []


def test_what_the_history_of_a_record_says_of_a_rename_and_a_confirmation(store: Store) -> None:
    by = writer(store)
    by.update("a", {"title": "Quite another"}, store.get("a").hash)
    by.reanchor("quite-another", {})

    changes = store.get("quite-another").memory.changes

    assert [tuple(change[:3]) for change in changes[-2:]] == [
        (LATER, "Renamed from a", "id"),
        (LATER, "Confirmed against its files", "anchors"),
    ]
    assert changes[-2][3:5] == ("a", "quite-another")


def test_a_rename_drops_the_oldest_entry_of_a_full_history(store: Store) -> None:
    by = writer(store)
    for number in range(2 * lifecycle.MAX_CHANGES):
        by.update("a", {"tags": [f"t{number}"]}, store.get("a").hash)

    by.update("a", {"title": "Quite another"}, store.get("a").hash)

    record = store.get("quite-another").memory
    assert len(record.changes) == lifecycle.MAX_CHANGES
    assert record.changes[-1].summary == "Renamed from a"


class TestNewest:
    def test_the_newest_drafts_come_first_up_to_a_number(self, store: Store) -> None:
        box = Inbox(store.root)
        for number, name in enumerate(("x-old", "y-mid", "x-new", "broken")):
            put = box.put(inbox.new_draft(sample(id=name, title=name)))
            moment = 1_700_000_000 + number
            os.utime(box.path(put.name), (moment, moment))
        Path(box.path("broken")).write_text("{")
        os.utime(box.path("broken"), (1_800_000_000, 1_800_000_000))
        Path(box.folder, "note.txt").write_text("")

        assert [draft.name for draft in box.newest(9)] == ["x-new", "y-mid", "x-old"]
        assert [draft.name for draft in box.newest(2)] == ["x-new"], "a broken file takes a place"
        assert [draft.name for draft in box.newest(9, "x-")] == ["x-new", "x-old"]
        assert Inbox(store.root + "-none").newest(9) == []

    def test_drafts_are_listed_by_the_date_in_them(self, store: Store) -> None:
        box = Inbox(store.root)
        for name, made_at in (("b", NOW), ("a", LATER), ("c", NOW)):
            box.put(inbox.new_draft(sample(id=name, title=name))._replace(made_at=made_at))
        Path(box.folder, "z.json").write_text("{")
        Path(box.folder, ".hidden.json").write_text("{")

        assert [draft.name for draft in box.scan()] == ["z", "b", "c", "a"]
        assert box.names() == ["a", "b", "c", "z"]
        broken = box.find("z.json")
        assert (type(broken).__name__, broken.name) == ("BrokenDraft", "z")
        assert refusal(box.find, "gone") == ("no draft 'gone' in the inbox", "onrecord inbox")
