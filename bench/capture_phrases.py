"""Single utterances put into small scenes: the words triage is tuned with, beside the "tune" half of the sessions.

asked   the assistant has offered two ways; the user answers
told    the user says something in the course of the work
fixed   the assistant has just changed a file; the user reacts
agreed  the assistant proposes, the user says yes
did     the assistant reports after having looked at the code and changed it
failed  something was broken, commands were run; the assistant reports
busy    many files were changed; the assistant reports, and the user answers (fourth column)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

PHRASES = Path(__file__).parent / "sets" / "capture" / "phrases.tsv"

_EDIT = {"role": "tool_use", "name": "Edit", "input": {"file_path": "src/app.py"}}
_READ = {"role": "tool_use", "name": "Read", "input": {"file_path": "src/app.py"}}
_SHELL = {"role": "tool_use", "name": "Bash", "input": {"command": "make check"}}
_WORDS = {
    "en": ("have a look at the module", "There are two ways:\n\n- the one\n- the other\n\nWhich one?", "Done.", "yep"),
    "de": ("schau dir mal das Modul an", "Zwei Wege:\n\n- der eine\n- der andere\n\nWelcher?", "Erledigt.", "ja, gut"),
    "es": ("mira el módulo por favor", "Hay dos formas:\n\n- la una\n- la otra\n\n¿Cuál?", "Hecho.", "sí, de acuerdo"),
}
_BROKEN = {
    "en": "the service is down, can you look",
    "de": "der Dienst startet nicht mehr, kannst du mal schauen",
    "es": "el servicio no arranca, puedes mirar",
}


def sessions() -> list[dict[str, Any]]:
    """Each phrase as a session in the format of `transcripts.jsonl`."""
    rows = [line.split("\t") for line in PHRASES.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [_session(number, *row) for number, row in enumerate(rows, 1)]


def first_session(text: str) -> dict[str, Any]:
    """A session that begins with a prompt which nobody would want remembered."""
    return {**_session(0, "", "told", text), "id": "prompt", "messages": [_user(text), _READ, _EDIT, _agent("Done.")]}


def _session(number: int, expected: str, setting: str, text: str, answer: str = "") -> dict[str, Any]:
    setting, _, language = setting.partition("-")
    language = language or "en"
    return {
        "id": f"phrase-{number:03}",
        "split": "tune",
        "language": language,
        "kind": expected or "nothing",
        "expected": [expected] if expected else [],
        "evidence": [text],
        "messages": _scene(setting, text, answer, *_WORDS[language], broken=_BROKEN[language]),
    }


def _scene(
    setting: str, text: str, answer: str, request: str, choice: str, done: str, yes: str, *, broken: str
) -> list[dict[str, Any]]:
    begin = [_user(request), _READ]
    if setting == "asked":
        return [*begin, _agent(choice), _user(text), _EDIT, _agent(done)]
    if setting == "told":
        return [*begin, _agent(done), _user(text), _EDIT, _agent(done)]
    if setting == "fixed":
        return [*begin, _EDIT, _agent(done), _user(text), _EDIT, _agent(done)]
    if setting == "agreed":
        return [*begin, _agent(text), _user(yes), _EDIT, _agent(done)]
    if setting == "did":
        return [*begin, _EDIT, _agent(text)]
    if setting == "failed":
        return [_user(broken), _SHELL, {"role": "tool_result", "text": "Exit code 1", "is_error": True}, _SHELL,
                _agent(text)]  # fmt: skip
    assert setting == "busy", setting
    edits = [{**_EDIT, "input": {"file_path": f"src/part{n}.py"}} for n in range(6)]
    return [_user(request), *edits, _SHELL, _agent(text), _user(answer), _agent(done)]


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "text": text}


def _agent(text: str) -> dict[str, Any]:
    return {"role": "assistant", "text": text}
