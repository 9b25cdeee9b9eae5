"""Our repository, installed as a plugin by the commands of the clients that can read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts import plugin_copy
from tests.hosts.clients.codex import Codex
from tests.hosts.clients.copilot import Copilot
from tests.hosts.clients.droid import Droid
from tests.hosts.clients.qwen import Qwen
from tests.hosts.conftest import NewClient
from tests.hosts.host_client import HostClient
from tests.hosts.visit import SHELL_SYNTAX, UNFINISHED, prepare

pytestmark = pytest.mark.client


@pytest.mark.parametrize("host", [Codex, Copilot, Qwen, Droid])
def test_a_prompt_full_of_shell_syntax_runs_nothing(
    tmp_path: Path, new_client: NewClient, host: type[HostClient]
) -> None:
    client = new_client(host)
    prepare(client)
    repository = plugin_copy.copy_to(tmp_path / "copy of onrecord")
    for words in client.install_plugin(repository):
        process = client.run(*words)
        assert process.exit_code == 0, process.stdout + process.stderr

    turn = client.prompt(
        f"look around {SHELL_SYNTAX}",
        replies=[client.shell(f"echo DONE; cat <<'EOF'\n{SHELL_SYNTAX}\nEOF\nexit 3"), "Fine."],
    )

    assert list(tmp_path.rglob("PWNED*")) == []
    assert turn.exit_code == 0, turn.stdout + turn.stderr
    # In Copilot, a hook that fails before a tool denies the tool.
    assert "DONE" in turn.last.text
    assert UNFINISHED in turn.last.text, "no hook of ours has answered"
