"""The commands that buttons run: their arguments, what the next page says of them, and how an error is told."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from onrecord.web import settings_page


class Command:
    """A command that was run, and what it is to print."""

    def __init__(self, output: str = "{}", code: int = 0, errors: str = "") -> None:
        self.arguments: list[list[str]] = []
        self.options: dict[str, Any] = {}
        self._result = subprocess.CompletedProcess([], code, output.encode(), errors.encode())

    def run(self, line: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        self.options = options
        self.arguments.append(line[line.index("-c") + 3 :])
        return self._result


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Command]:
    def reply(*arguments: Any, **options: Any) -> Command:
        command = Command(*arguments, **options)
        monkeypatch.setattr(settings_page.subprocess, "run", command.run)
        return command

    return reply


def _notice(response: Any) -> str:
    (notice,) = re.findall(r'<div class="notice[^"]*" role="status">(.*?)</div>', response.text, re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", notice)).strip()


@pytest.mark.parametrize(
    ("name", "fields", "arguments", "page", "notice"),
    [
        ("begin", {}, ["init"], "/",
         "The memory is made. Save a first decision, or import what is written down."),
        ("trust", {}, ["trust"], "/health", "Agents are shown the records of this repository."),
        ("connect", {"subject": "codex"}, ["connect", "--yes", "codex"], "/health",
         "Connected. Start the agent again."),
        ("disconnect", {"subject": "codex"}, ["connect", "--remove", "--yes", "codex"], "/health",
         "Disconnected. Start the agent again."),
        ("sync", {"subject": "platform"}, ["sync", "platform"], "/health", "Synced."),
        ("set", {"subject": "a.b", "value": " 2 "}, ["config", "set", "a.b", "2"], "/health", "Changed."),
        ("unset", {"subject": "a.b"}, ["config", "unset", "a.b"], "/health", "Back to the default."),
    ],
)  # fmt: skip
def test_a_button_runs_its_command_for_the_project(
    browser, save, project, replies, name, fields, arguments, page, notice
):
    save()
    command = replies()

    response = browser.post(f"/do/{name}", referer="/health", **fields)

    assert command.arguments == [[*arguments, "--project", project.root, "--json"]]
    assert command.options["stdin"] == subprocess.DEVNULL and command.options["timeout"] == 150
    assert response.request.url.path.removeprefix(browser.access.prefix) == page
    assert _notice(response) == notice


def test_a_setting_of_the_user_is_set_for_the_user(browser, save, replies):
    save()
    command = replies()

    browser.post("/do/set", subject="a.b", value="2", file=settings_page.own_config())

    assert command.arguments == [["config", "set", "a.b", "2", "--user", "--json"]]


@pytest.mark.parametrize(("length", "status"), [(200, 200), (201, 400)])
def test_what_a_form_names_has_at_most_two_hundred_characters(browser, save, replies, length, status):
    save()
    replies()

    assert browser.post("/do/sync", subject="x" * length, referer="/").status_code == status


def _import(drafts: int = 0, records: int = 0, left_out: int = 0) -> str:
    files = [{"path": f"{number}.md", "left_out": ["a credential"]} for number in range(left_out)]
    return json.dumps({"drafts": drafts, "records": records, "files": [*files, {"path": "good.md", "left_out": []}]})


@pytest.mark.parametrize(
    ("output", "notice"),
    [
        (_import(drafts=1), "1 draft made of the documents. Accept what is right."),
        (_import(drafts=2, records=1), "2 drafts and 1 record made of the documents. Accept what is right."),
        (_import(records=2), "2 records made of the documents. Accept what is right."),
        (_import(), "No draft was made. Nothing new in the documents reads as a decision. Let your agent read them:"
                    " /memory:import."),
        (_import(left_out=1), "No draft was made. 0.md: a credential"),
        (_import(left_out=5), "No draft was made. " + " ".join(f"{number}.md: a credential" for number in range(5))),
        (_import(drafts=1, left_out=7), "1 draft made of the documents. Accept what is right. "
         + " ".join(f"{number}.md: a credential" for number in range(5))
         + " 2 more documents have parts that were left out."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("code", [0, 1])
def test_an_import_says_what_it_made_and_what_it_left_out(browser, save, replies, output, notice, code):
    save()
    command = replies(output, code)

    response = browser.post("/do/import")

    assert command.arguments[0][0] == "import"
    assert _notice(response) == notice
    assert response.request.url.path.endswith("/inbox")


@pytest.mark.parametrize(
    ("output", "errors", "message"),
    [
        ('{"error": {"message": "no such store", "fix": "choose one"}}', "", "no such store"),
        ("", 'warning: x\n{"error": {"message": "no such store"}} and more', "no such store"),
        ('{"error": "text"}', "", "it failed"),
        ('{"error": {}}', "", "it failed"),
        ("Traceback", "ValueError: {", "it failed"),
        ("", "", "it failed"),
    ],
)
def test_an_error_of_a_command_is_told_on_the_page(browser, save, replies, output, errors, message):
    save()
    replies(output, 1, errors)

    response = browser.post("/do/sync", subject="platform")

    assert response.status_code == 400
    assert message in response.text.lower().replace("<wbr>", "").lower()


@pytest.mark.parametrize(
    ("output", "fix"),
    [
        ('{"error": {"message": "m", "fix": "choose one"}}', "choose one"),
        ('{"error": {"message": "m"}}', "onrecord a b"),
        ('{"error": 1}', "onrecord a b"),
        ("x", "onrecord a b"),
    ],
)
def test_an_error_without_a_fix_has_the_command(output, fix):
    assert settings_page._error(output.encode(), ["a", "b"]).fix == fix


def test_the_command_in_place_of_a_fix_can_be_pasted():
    fix = settings_page._error(b"", ["sync", "platform", "--project", "/home/ann/my ferry"]).fix

    assert fix == "onrecord sync platform --project '/home/ann/my ferry'"


def test_an_import_that_fails_as_a_whole_is_an_error(browser, save, replies):
    save()
    replies('{"error": {"message": "no store here"}}', 1)

    response = browser.post("/do/import")

    assert response.status_code == 400 and "no store here" in response.text.lower()


def test_a_command_that_takes_too_long_is_ended(browser, save, monkeypatch):
    def run(line: list[str], **options: Any) -> None:
        raise subprocess.TimeoutExpired(line, options["timeout"])

    save()
    monkeypatch.setattr(settings_page.subprocess, "run", run)

    response = browser.post("/do/sync", subject="platform")

    assert response.status_code == 400
    assert "it took more than 150 seconds and was ended" in response.text.lower().replace("<wbr>", "")
