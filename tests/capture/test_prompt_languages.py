"""The languages that a team types are counted at prompts, and saving asks for triggers in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onrecord import state_file
from onrecord.capture import prompt_languages
from onrecord.cli import main
from onrecord.mcp import drafting
from onrecord.project import Project
from tests.hooks.conftest import Hook, hook, project

__all__ = ["hook", "project"]

SPANISH = (
    "¿dónde guardamos las sesiones de los usuarios?",
    "hay que agregar un nuevo campo a la tabla de pagos",
    "por qué no funciona el despliegue que hicimos antes",
)
RECORD = {
    "title": "Passwords are hashed with argon2id",
    "tags": ["auth"],
    "content": {"context": "bcrypt cuts.", "decision": "argon2id", "rationale": ["bcrypt cuts after 72 bytes"]},
}
ENGLISH_TRIGGERS = ["add bcrypt to the login", "how do we hash a password?"]
SPANISH_TRIGGERS = ["cómo se guarda la contraseña de un usuario"]


def type_spanish(hook: Hook) -> None:
    for prompt in SPANISH:
        assert hook("user_prompt_submit", prompt=prompt).code == 0


def stored() -> list[str]:
    folder = Path(state_file.state_path(prompt_languages.FOLDER))
    return [file.read_text(encoding="utf-8") for file in folder.iterdir()] if folder.exists() else []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (SPANISH[0], "es"),
        ("wo haben wir die Sitzungen und warum nicht im Cache", "de"),
        ("pourquoi est-ce que les sessions ne sont pas dans le cache", "fr"),
        ("perché le sessioni non sono nella cache e come le cambio", "it"),
        ("por que as sessões não estão no cache, você pode mudar isso", "pt"),
        ("waarom zijn de sessies niet in de cache en wat moet ik doen", "nl"),
        ("dlaczego sesje nie są w bazie i gdzie jest ten plik", "pl"),
        ("bu oturumlar neden veritabanında değil ve nasıl eklerim", "tr"),
        ("где мы храним сессии", "ru"),
        ("我们在哪里保存会话", "zh"),
        ("セッションはどこに保存しますか", "ja"),
        ("세션은 어디에 저장하나요", "ko"),
        ("أين نحفظ الجلسات", "ar"),
        ("where do we keep the sessions of a user?", ""),
        ("the user typed 你好 and the parser of the import page failed with a strange error", ""),
        ("git push", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_prompt(text, code):
    assert prompt_languages.language(text) == code


def test_a_code_and_a_count_are_all_that_is_stored(hook, project):
    type_spanish(hook)
    hook("user_prompt_submit", prompt="where do we keep the sessions of a user?")

    assert stored() == ["es 3\n"]
    assert prompt_languages.typed(project.root) == ["Spanish"]


def test_a_team_that_types_english_has_no_file(hook):
    hook("user_prompt_submit", prompt="where do we keep the sessions of a user?")

    assert stored() == []


def test_without_capture_no_language_is_stored(hook, project):
    Path(project.store.root, "memory-config.json").write_text('{"capture": {"mode": "off"}}', encoding="utf-8")

    type_spanish(hook)

    assert stored() == []


def test_two_prompts_are_no_habit_and_a_damaged_file_is_none(project):
    for prompt in SPANISH[:2]:
        prompt_languages.note(project.root, prompt)
    assert prompt_languages.typed(project.root) == []

    (file,) = Path(state_file.state_path(prompt_languages.FOLDER)).iterdir()
    file.write_bytes(b"es many\nxx 9\n\xff\xfe\nfr 7\n")
    assert prompt_languages.typed(project.root) == ["French"]


def test_the_stop_hook_asks_for_triggers_in_the_teams_language(hook, project, tmp_path):
    type_spanish(hook)
    said = "ok let's go with argon2id instead of bcrypt for the password hashes, because bcrypt silently cuts after 72."
    log = tmp_path / "transcript.jsonl"
    turns = (("user", said), ("assistant", [{"type": "text", "text": "Done."}]))
    lines = [json.dumps({"type": role, "message": {"role": role, "content": text}}) for role, text in turns]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")

    output = hook("stop", transcript_path=str(log), stop_hook_active=False, last_assistant_message="Done.")

    assert "save it as suggested, with the memory-save skill, with triggers in Spanish too." in output.context


def saved(project: Project, monkeypatch: pytest.MonkeyPatch, capsys: Any, triggers: list[str]) -> str:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({**RECORD, "triggers": triggers})))
    assert main(["--project", project.root, "save", "decision", "--json"]) == 0
    return str(json.loads(capsys.readouterr().out).get("note", ""))


@pytest.mark.parametrize("triggers", [ENGLISH_TRIGGERS, [*ENGLISH_TRIGGERS, *SPANISH_TRIGGERS]])
def test_save_asks_for_triggers_in_the_teams_language(hook, project, monkeypatch, capsys, triggers):
    type_spanish(hook)

    note = saved(project, monkeypatch, capsys, triggers)

    assert ("add triggers in Spanish too: onrecord update" in note) is (triggers == ENGLISH_TRIGGERS)


def test_a_save_without_triggers_names_the_way_to_add_them_once(hook, project, monkeypatch, capsys):
    type_spanish(hook)

    note = saved(project, monkeypatch, capsys, [])

    assert note.endswith("prompts in this project are also typed in Spanish: add triggers in Spanish too")
    assert note.count("onrecord update") == 1


def test_save_asks_nothing_of_a_team_that_types_english(project, monkeypatch, capsys):
    assert saved(project, monkeypatch, capsys, ENGLISH_TRIGGERS) == ""


@pytest.mark.parametrize("triggers", [ENGLISH_TRIGGERS, [*ENGLISH_TRIGGERS, *SPANISH_TRIGGERS]])
def test_save_over_mcp_asks_for_them_too(hook, project, triggers):
    type_spanish(hook)

    result = drafting.save(project, "test", category="decision", **RECORD, triggers=triggers)

    assert ("add triggers in Spanish too: call save again" in result.text) is (triggers == ENGLISH_TRIGGERS)
