"""The file of a form: how often it is opened, what is kept of it, and how two versions of a record are compared."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.cli import form_file, terminal
from onrecord.cli.form_file import FormFile
from onrecord.cli.output import Screen
from onrecord.errors import BadInput, Invalid, Stopped, Unwritable
from onrecord.record import memory
from tests.records import raw

TEXT = "# Use uv\n\n## decision\nuv it is.\n"
SCREEN = Screen()


def new_form(text: str = TEXT, name: str = "use-uv") -> FormFile:
    return FormFile("decision", text, name=name, resume=lambda file: f"onrecord save --from {file}")


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were opened; each time the editor adds a line."""
    texts: list[str] = []

    def edit(path: str) -> None:
        texts.append(Path(path).read_text(encoding="utf-8"))
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"More {len(texts)}.\n")

    monkeypatch.setattr(terminal, "open_editor", edit)
    return texts


def test_a_form_is_a_private_markdown_file_named_after_the_record():
    form = new_form()

    folder, name = os.path.split(form.path)
    assert folder == os.path.join(paths.state_dir(), "forms")
    assert name.startswith("use-uv-") and name.endswith(".md")
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(form.path).st_mode) == 0o600
    assert Path(form.path).read_bytes() == TEXT.encode()


def test_the_fifty_newest_forms_are_kept():
    for number in range(51):
        form = new_form(name=f"n{number:02}")
        os.utime(form.path, (1_000_000 + number, 1_000_000 + number))

    names = sorted(name[:3] for name in os.listdir(os.path.dirname(form.path)))
    new_form(name="x99")

    assert names == [f"n{number:02}" for number in range(1, 51)]
    assert sorted(name[:3] for name in os.listdir(os.path.dirname(form.path))) == [*names[1:], "x99"]


def test_a_state_folder_that_cannot_be_made_is_an_error_with_a_fix(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("ONRECORD_STATE_DIR", str(tmp_path / "file"))

    with pytest.raises(Unwritable) as failed:
        new_form()

    assert failed.value.message.startswith(f"cannot write to {tmp_path / 'file' / 'forms'}: ")
    assert failed.value.fix == "set ONRECORD_STATE_DIR to a folder of yours"


def test_what_is_filled_in_is_checked_and_returned(openings):
    form = new_form()

    assert form.fill(lambda fields: fields["content"]["decision"]) == "uv it is.\nMore 1."
    assert openings == [TEXT]
    form.delete()
    assert os.listdir(os.path.dirname(form.path)) == []


def test_a_form_is_opened_twenty_times(openings, capsys):
    form = new_form()

    def refuse(fields: object) -> None:
        raise Invalid("content.decision: is vague", "say more", (("content.decision", "is vague"),))

    with pytest.raises(Invalid) as refused:
        form.fill(refuse)

    assert len(openings) == 20
    assert openings[1].count("<!-- ERROR decision: is vague -->") == 1 == openings[19].count("<!-- ERROR ")
    assert capsys.readouterr().out == "1 field to correct; the form is open again\n" * 20
    assert refused.value.fix == f"your text is kept: onrecord save --from {form.path}; correct it there"


def test_a_problem_of_no_field_ends_it_and_keeps_the_text(openings):
    form = new_form()

    def fail(fields: object) -> None:
        raise Unwritable("the disk is full", fix="free some space")

    with pytest.raises(Unwritable) as failed:
        form.fill(fail)

    assert len(openings) == 1
    assert failed.value.fix == f"your text is kept: onrecord save --from {form.path}; free some space"


@pytest.mark.parametrize(
    ("edited", "untouched", "message"),
    [
        (TEXT, TEXT, "nothing was saved: the form was not changed"),
        (f"\n{TEXT} \n", TEXT, "nothing was saved: the form was not changed"),
        ("", TEXT, "nothing was saved: the form is empty"),
        ("<!-- only a comment -->\n", None, "nothing was saved: the form is empty"),
    ],
)
def test_a_form_that_says_nothing_new_is_deleted(monkeypatch, edited, untouched, message):
    monkeypatch.setattr(terminal, "open_editor", lambda path: Path(path).write_text(edited, encoding="utf-8"))
    form = new_form()
    Path(f"{form.path}~").write_text("what the editor left")

    with pytest.raises(Stopped) as stopped:
        form.fill(lambda fields: fields, untouched=untouched)

    assert (stopped.value.message, stopped.value.fix) == (message, "")
    assert os.listdir(os.path.dirname(form.path)) == []


def test_a_form_that_is_closed_with_its_problems_says_the_first_one(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "open_editor", lambda path: None)
    form = new_form("# Use uv\n\n## decision\nuv\n\n## decision\nagain\n\n## colour\nred\n")

    with pytest.raises(BadInput) as refused:
        form.fill(lambda fields: fields)

    assert refused.value.message.startswith("decision: is here twice")
    assert refused.value.fix.startswith(f"your text is kept: onrecord save --from {form.path}; correct it there")
    assert capsys.readouterr().out == "2 fields to correct; the form is open again\n"


def test_a_form_that_is_gone_or_not_text_cannot_be_read(tmp_path):
    (tmp_path / "a.md").write_bytes(b"\xff")
    (tmp_path / "b.md").write_bytes(b"x" * 1_999_999)
    (tmp_path / "c.md").write_bytes(b"x" * 2_000_000)

    for name in ("a.md", "none.md"):
        with pytest.raises(BadInput) as refused:
            form_file.read(str(tmp_path / name))
        assert refused.value.message.startswith(f"cannot read the form {tmp_path / name}: ")
        assert refused.value.fix == "name the file of a form, in UTF-8"
    assert [len(form_file.read(str(tmp_path / name))) for name in ("b.md", "c.md")] == [1_999_999, 2_000_000]


def test_a_form_that_is_too_large_is_refused_and_not_cut(monkeypatch):
    """What comes after the first two million bytes would be lost without a word."""
    long_text = "x" * 1_999_960

    def edit(path: str) -> None:
        Path(path).write_text(f"{TEXT}{long_text}é\n\n## triggers\n- the last words\n", encoding="utf-8")

    monkeypatch.setattr(terminal, "open_editor", edit)
    form = new_form()

    with pytest.raises(BadInput) as refusal:
        form.fill(lambda fields: pytest.fail("a part of the form was taken for all of it"))

    kept = Path(form.path).read_text(encoding="utf-8")
    assert refusal.value.message == f"the form {form.path} has more than 2,000,000 bytes"
    assert refusal.value.fix == (f"your text is kept: onrecord save --from {form.path}; shorten it; nothing was saved")
    assert kept.endswith("- the last words\n")


def test_an_editor_that_fails_keeps_the_text_and_one_that_deletes_the_form_does_not(monkeypatch):
    def fail(path: str) -> None:
        raise BadInput("the editor failed", fix="set EDITOR")

    form = new_form()
    monkeypatch.setattr(terminal, "open_editor", fail)
    with pytest.raises(BadInput) as kept:
        form.fill(lambda fields: fields)
    monkeypatch.setattr(terminal, "open_editor", os.unlink)
    with pytest.raises(BadInput) as gone:
        form.fill(lambda fields: fields)

    assert kept.value.fix == f"your text is kept: onrecord save --from {form.path}; set EDITOR"
    assert gone.value.fix == "name the file of a form, in UTF-8"


def record(content: dict[str, object] | None = None, **fields: object) -> memory.Memory:
    return memory.from_json(raw(content={**raw()["content"], **(content or {})}, **fields))


def test_the_difference_of_two_versions_field_by_field():
    before = record({"consequences": ["a", "b"]}, confidence=0.5, updated_at="2026-03-02T09:30:00Z")
    after = record(
        {"consequences": ["b", "c"], "status": "proposed", "extra": {"x": 1}},
        title="New", tags=["redis", "zeta"], updated_at="2026-04-02T09:30:00Z", times_updated=3,
    )  # fmt: skip

    assert form_file.render_difference(before, after, SCREEN).split("\n") == [
        "title",
        "  - Sessions in Redis",
        "  + New",
        "tags",
        "  - sessions",
        "  + zeta",
        "confidence",
        "  - 0.5",
        "status",
        "  - accepted",
        "  + proposed",
        "consequences",
        "  - a",
        "  + c",
        "extra",
        '  + {"x": 1}',
    ]
    assert form_file.render_difference(before, before, SCREEN) == ""


def test_a_difference_has_the_parts_of_a_check_that_say_something():
    checks = [{"on": "edit", "has": ["moment"], "say": "date-fns"}]

    lines = form_file.render_difference(record(), record(checks=checks), SCREEN).split("\n")

    assert lines[0] == "checks"
    assert all(line.startswith("  + ") and not line.endswith(": ") for line in lines[1:])
    assert "moment" in " ".join(lines) and "date-fns" in " ".join(lines)


def test_removed_lines_are_red_and_added_ones_green():
    text = form_file.render_difference(record(), record(title="New"), Screen(has_colour=True))

    assert text == "\033[36mtitle\033[0m\n\033[31m  - Sessions in Redis\033[0m\n\033[32m  + New\033[0m"
