"""The settings: what they are, and the buttons that change them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from onrecord import paths
from onrecord.hosts import connection, table
from onrecord.setting_table import SETTINGS
from onrecord.settings import load_settings


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


@pytest.mark.parametrize("value", ["", "--user", "a\nb", "x" * 300])
def test_a_value_is_no_option(browser, save, value):
    save()

    response = browser.post("/do/set", subject="categories.decision.description", value=value)

    assert response.status_code == 400 and "nothing is named" in response.text


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
