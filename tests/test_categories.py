"""A seventh category is one edit of the table: everything else derives from it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from onrecord import categories
from onrecord.record import schema
from tests import source_tree

ROOT = Path(__file__).parents[1]

SEVENTH = """
import sys
sys.path[:0] = [sys.argv.pop(1), sys.argv.pop(1)]
from onrecord import categories
categories.CATEGORIES["glossary"] = categories.Category(
    name="glossary",
    folder="glossary",
    digest_rank=5,
    content=(
        ("meaning", "required", "text", "What the word means here."),
        ("not_meant", "optional", "lines", "What it does not mean."),
    ),
    statement="meaning",
    noun="a term",
    meaning="a word of the project, and what it stands for",
    triage_threshold=0.9,
    details=(("Not", "not_meant", 100, ""),),
    severity_rank={"": 2},
)
"""
TITLE = "A consignment is one parcel of one order"
RECORD = {
    "title": TITLE,
    "tags": ["consignment"],
    "triggers": ["what do we call a parcel?"],
    "related_files": ["src/parcels.py"],
    "content": {"meaning": "One parcel of one order, with a label of its own.", "not_meant": ["a lorry load"]},
}
ID = "a-consignment-is-one-parcel-of-one-order"
LINE = "One parcel of one order, with a label of its own. Not: a lorry load."


class Seventh:
    """Onrecord with one more category, each time in a process of its own."""

    def __init__(self, project: Path) -> None:
        self._project = project

    def command(self, *arguments: str, text: str = "") -> str:
        return self._run("from onrecord.cli import main; raise SystemExit(main(sys.argv[1:]))", arguments, text)

    def hook(self, event: str, **fields: object) -> str:
        event_json = json.dumps({"session_id": "s1", "cwd": str(self._project), "transcript_path": "", **fields})
        return self._run("from onrecord.hooks import main; main(sys.argv[1:])", (event,), event_json)

    def python(self, code: str) -> str:
        return self._run(code, (), "")

    def _run(self, code: str, arguments: tuple[str, ...], text: str) -> str:
        command = [sys.executable, "-c", SEVENTH + code, str(ROOT / "src"), str(ROOT / "scripts"), *arguments]
        result = subprocess.run(
            command, input=text, cwd=self._project, capture_output=True, text=True, check=False, timeout=120
        )
        assert (result.returncode, "Traceback" in result.stderr) == (0, False), result.stderr
        return result.stdout


@pytest.fixture
def seventh(tmp_path: Path) -> Seventh:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    commit = ("commit", "-q", "--allow-empty", "-m", "work on parcels")
    for command in (("init", "-q", "-b", "consignment-of-parcels-in-order"), commit, commit):
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *command], cwd=project, check=True, timeout=120
        )
    (project / "src" / "parcels.py").write_text("parcels = []\n")
    seventh = Seventh(project)
    seventh.command("save", "glossary", "--json", text=json.dumps(RECORD))
    return seventh


def test_it_is_saved_listed_and_shown(seventh: Seventh, tmp_path: Path) -> None:
    store = tmp_path / "project" / ".claude" / "memory"
    written = json.loads((store / "glossary" / f"{ID}.json").read_text())

    assert {key: written[key] for key in RECORD} == RECORD
    assert f"- [GLOSSARY] {TITLE} -> glossary/{ID}.json" in (store / "index.md").read_text()
    assert ID in seventh.command("list", "--category", "glossary")
    assert "not meant" in seventh.command("show", ID).replace("_", " ")
    assert "1 readable record" in seventh.command("doctor")
    assert json.loads(seventh.command("config", "get", "categories.glossary.enabled", "--json"))


def test_it_is_found_and_shown_to_the_agent(seventh: Seventh) -> None:
    (hit,) = json.loads(seventh.command("search", "consignment parcel", "--json"))["results"]
    assert (hit["id"], hit["category"]) == (ID, "glossary")
    assert LINE in seventh.command("recall", "what do we call a parcel in this project, a consignment?")
    assert (
        LINE
        in json.loads(seventh.hook("user_prompt_submit", prompt="what do we call a parcel, a consignment?"))[
            "hookSpecificOutput"
        ]["additionalContext"]
    )


def test_it_stands_in_the_digest_and_beside_its_file(seventh: Seventh) -> None:
    assert "\\nGlossary:\\n- " in seventh.hook("session_start", source="startup")
    read = {"tool_name": "Read", "tool_input": {"file_path": "src/parcels.py"}}
    assert LINE in seventh.hook("pre_tool_use", **{**read, "session_id": "s2"})


def test_it_has_a_json_schema(seventh: Seventh) -> None:
    schema_of_it = json.loads(
        seventh.python("import json, record_schemas; print(json.dumps(record_schemas.of('glossary')))")
    )

    assert schema_of_it["properties"]["category"]["const"] == "glossary"
    assert schema_of_it["properties"]["content"]["required"] == ["meaning"]


def test_two_versions_of_it_are_merged(seventh: Seventh) -> None:
    code = (
        "import json, pathlib; from onrecord.record import merge\n"
        f"base = pathlib.Path('.claude/memory/glossary/{ID}.json').read_bytes()\n"
        "ours = base.replace(b'a lorry load', b'a lorry'); theirs = base.replace(b'of one order,', b'of an order,')\n"
        "print(merge.merge(base, ours, theirs).data.decode())"
    )

    merged = json.loads(seventh.python(code))

    assert merged["content"] == {
        "meaning": "One parcel of an order, with a label of its own.",
        "not_meant": ["a lorry"],
    }


def test_no_other_module_lists_the_categories() -> None:
    """A module that names most of the categories side by side keeps a list of its own."""
    names = set(categories.CATEGORIES) | {category.folder for category in categories.CATEGORIES.values()}
    wrong = []
    for file, tree in source_tree.trees().items():
        if file.endswith(("categories.py", "demo_data.py")):
            continue
        for node in ast.walk(tree):
            items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            texts = {item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)}
            if len(texts & names) > 4:
                wrong.append(f"{file}:{node.lineno}")

    assert wrong == []


def test_every_category_says_what_its_content_holds() -> None:
    for category in categories.CATEGORIES.values():
        fields = [field.name for field in schema.content_fields(category.name)]
        named = {category.statement, *category.defaults, *(field.split(".")[0] for _, field, _, _ in category.details)}
        named |= {field for field, _ in category.marks} | {
            category.topic,
            category.severity_field,
            category.inactive_when[0],
        } - {""}

        assert named <= set(fields)
