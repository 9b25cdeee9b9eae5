"""The settings: what they are, and the buttons that change them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.hosts import connection, table
from onrecord.hosts.connection import ConnectionState
from onrecord.setting_table import SETTINGS, Setting
from onrecord.settings import load_settings
from onrecord.web import settings_page


def _row(text: str, key: str) -> str:
    return re.search(rf'<tr id="{re.escape(key)}".*?</tr>', text, re.S)[0]


def _config(root: str) -> object:
    return json.loads(Path(root, paths.CONFIG).read_text())


def test_a_setting_is_changed_for_the_project_and_set_back(browser, save, project):
    save()
    changed = browser.post("/do/set", subject="retrieval.max_inject", value="2", referer="/settings")
    row = _row(changed.text, "retrieval.max_inject")
    fields = dict(re.findall(r'name="(subject|file)" value="([^"]*)"', row.partition("/do/unset")[2]))

    back = browser.post("/do/unset", referer="/settings", **fields)

    assert "Changed." in changed.text and 'class="is-set"' in row and _config(project.store.root) != {}
    assert "Back to the default." in back.text and 'class="is-set"' not in _row(back.text, "retrieval.max_inject")
    assert load_settings(project.store.root).count("retrieval.max_inject") == 3


def test_a_setting_of_the_user_alone_goes_to_their_own_file(browser, save, project):
    save()
    row = _row(browser.get("/settings").text, "trust.clones")
    (file,) = re.findall(r'name="file" value="([^"]*)"', row)

    browser.post("/do/set", subject="trust.clones", value="ask", file=file)

    assert _config(paths.user_store()) == {"trust": {"clones": "ask"}}
    assert not os.path.exists(os.path.join(project.store.root, paths.CONFIG))
    assert re.findall(r"<option[^>]*>(\w+)</option>", row) == ["host", "ask"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("retrieval.max_inject", "99"), ("retrieval.max_inject", "many"), ("trust.clones", "ask"), ("no.such", "1")],
)
def test_a_value_that_does_not_fit_is_refused_with_the_reason(browser, save, project, key, value):
    save()

    response = browser.post("/do/set", subject=key, value=value)

    assert response.status_code == 400
    assert key in response.text.replace("<wbr>", "")
    assert not os.path.exists(os.path.join(project.store.root, paths.CONFIG))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "the setting has no value"),
        ("--user", "this cannot be the value of a setting here: --user"),
        ("-1", "this cannot be the value of a setting here: -1"),
        ("a\nb", "this cannot be the value of a setting here: "),
        ("x" * 300, "this cannot be the value of a setting here: xxx"),
    ],
)
def test_a_value_is_no_option(browser, save, value, message):
    save()

    response = browser.post("/do/set", subject="categories.decision.description", value=value)

    assert response.status_code == 400 and message in response.text.replace("<wbr>", "")


def test_every_setting_has_a_control_for_what_it_may_be(browser, save):
    save()
    text = browser.get("/settings").text

    for key, setting in SETTINGS.items():
        row = _row(text, key)
        has_control = 'name="value"' in row
        assert has_control == ("*" not in key)
        if has_control and isinstance(setting.default, bool):
            assert re.findall(r"<option[^>]*>(true|false)</option>", row) == ["true", "false"]
        elif has_control and isinstance(setting.default, (int, float)):
            assert 'type="number"' in row


def test_an_agent_is_connected_and_disconnected_with_one_button(browser, save, project):
    """The list of what needs a person led to a page without a button for it."""
    save()
    Path(os.environ["HOME"], ".codex").mkdir(exist_ok=True)
    offered = browser.get("/settings").text

    connected = browser.post("/do/connect", subject="codex")
    is_connected = connection.state(table.setup("codex")).is_connected
    browser.post("/do/disconnect", subject="codex")

    assert 'id="agents"' in offered and 'name="subject" value="codex"' in offered
    assert "Connected. Start the agent again." in connected.text and is_connected
    assert not connection.state(table.setup("codex")).is_connected


def test_settings_are_in_groups_with_headings(browser, save):
    save()
    text = browser.get("/settings").text

    assert re.findall(r'<h2 id="([^"]+)">([^<]+)</h2>', text)[1:] == [
        ("retrieval", "What an agent is shown"),
        ("checks", "Checks"),
        ("session_start", "At the start of a session"),
        ("capture", "What is suggested to be saved"),
        ("triage", "What is worth a suggestion"),
        ("categories", "Categories"),
        ("remotes", "Shared stores"),
        ("usage", "Event log"),
        ("export", "Export"),
        ("delete", "Retired records"),
        ("trust", "Repositories of others"),
    ]


@pytest.mark.parametrize(
    ("setting", "control"),
    [
        (Setting(True, ""), (("true", "false"), False, "", "", "", False)),
        (Setting(False, "", user_only=True), (("true", "false"), False, "", "", "", True)),
        (Setting(3, "", 1, 20), ((), True, "1", "20", "1", False)),
        (Setting(0.5, "", 0, 1, user_only=True), ((), True, "0", "1", "any", True)),
        (Setting(3, ""), ((), True, "", "", "1", False)),
        (Setting("a", "", choices=("a", "b")), (("a", "b"), False, "", "", "", False)),
        (Setting("a", "", user_only=True), ((), False, "", "", "", True)),
    ],
)
def test_a_control_fits_its_setting(setting, control):
    assert tuple(settings_page._control(setting)) == control


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (3, "3"), (0.5, "0.5"), ("Ab", "Ab"), (("a", "b"), "a, b")]
)
def test_a_value_is_a_text(value, text):
    assert settings_page._text(value) == text


@pytest.mark.parametrize(
    ("state", "words", "button"),
    [
        (ConnectionState(connection.CURRENT, connection.MISSING), "connected", "Disconnect"),
        (ConnectionState(connection.OUTDATED, connection.CURRENT),
         "connected by an earlier version: connect it again", "Disconnect"),
        (ConnectionState(connection.PLUGIN, connection.MISSING), "connected by its plugin", "Disconnect"),
        (ConnectionState(connection.MISSING, connection.MISSING), "not connected", "Connect"),
        (ConnectionState(connection.MISSING, connection.CURRENT), "only its MCP server is connected", "Disconnect"),
        (ConnectionState(connection.UNREADABLE, connection.MISSING, "config.toml is not TOML"),
         "config.toml is not TOML", "Connect"),
    ],
)  # fmt: skip
def test_the_state_of_an_agent_is_in_words(browser, save, monkeypatch, state, words, button):
    save()
    monkeypatch.setattr(connection, "state", lambda setup: state)
    monkeypatch.setattr(connection, "installed", lambda setup: connection.Installed("", "", setup.host == "codex"))

    text = re.search(r'<section class="card" id="agents".*?</section>', browser.get("/settings").text, re.S)[0]

    rows = re.findall(r'<strong>(.*?)</strong><p class="facts">(.*?)</p>.*?<button[^>]*>(\w+)', text, re.S)
    assert ("Codex CLI", words, button) in [(title, text.replace("<wbr>", ""), label) for title, text, label in rows]
    assert len(rows) == (len(table.setups()) if state.is_connected else 1)


@pytest.mark.parametrize(
    ("page", "address"),
    [("/search?q=a", "/search?q=a"), ("/", "/"), ("", "/"), ("search", "/"), ("//evil.example", "/"),
     ("/\\evil.example", "/"), ("/a\nb", "/"), ("/a//b", "/a//b")],
)  # fmt: skip
def test_a_theme_is_chosen_on_a_page_and_leads_back_to_it(browser, page, address):
    fields = {"form_token": browser.access.form_token, "theme": "dark", "page": page}
    origin = {"origin": f"http://{browser.access.host}"}

    response = browser.client.post("/theme", data=fields, headers=origin, follow_redirects=False)

    assert (response.status_code, response.headers["location"]) == (303, browser.access.prefix + address)


def test_what_a_setting_hides_is_said_and_what_is_wrong_in_a_config(browser, save, project):
    save()
    config = {"retrieval": {"enabled": False, "max_inject": "many"}}
    Path(project.store.root, paths.CONFIG).write_text(json.dumps(config))

    text = browser.get("/settings").text.replace("<wbr>", "")

    assert "1 setting is set; all others have the default." in text
    assert re.search(r'1 setting hides something from agents: <a href="#retrieval.enabled">', text)
    assert re.search(r'<p class="notice bad">[^<]*memory-config.json: retrieval.max_inject \w+', text)
    assert "hides</span>" in _row(text, "retrieval.enabled") and "hides</span>" not in _row(text, "checks.enabled")
