from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bench import judge as bench_judge
from bench.__main__ import main
from onrecord import paths
from tests.model_server import ModelServer, answers, says

SHORT = ["judge", "harbor", "--prompts", "12", "--certain-out", "0"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "OPENAI_")) or "proxy" in name.lower()]:
        monkeypatch.delenv(name)


def configure(server: ModelServer) -> None:
    os.makedirs(paths.user_store(), exist_ok=True)
    config = {"retrieval": {"judge": {"endpoint": server.url}}}
    Path(paths.user_store(), paths.CONFIG).write_text(json.dumps(config))


def figures(path: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    assert main([*SHORT, *arguments, "--json", str(path)]) == 0
    return {row["system"]: row for row in json.loads(path.read_text())}


def test_recorded_verdicts_give_the_same_figures_without_a_model(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    with ModelServer(says('{"keep": [1]}')) as server:
        configure(server)
        live = figures(tmp_path / "live.json", "--record", str(file))
    asked = len(server.requests)

    again = figures(tmp_path / "again.json", "--replay", str(file))

    judged = live["relevance model + judge"]
    assert asked == judged["requests"] == len(file.read_text().splitlines()) > 0
    assert judged["tokens_in"] == 1_000 * asked
    # A prompt that was asked twice took two times, of which a replay takes the first.
    seconds = again["relevance model + judge"]["seconds"]
    assert again == {**live, "relevance model + judge": {**judged, "seconds": seconds}}


def test_notes_in_other_company_are_judged_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    with ModelServer(says('{"keep": []}')) as server:
        configure(server)
        figures(tmp_path / "live.json", "--record", str(file))

    fewer = figures(tmp_path / "fewer.json", "--replay", str(file), "--certain-out", "0.05")["relevance model + judge"]

    assert fewer["failures"] == 0
    assert 0 < fewer["requests"] < len(server.requests)


def test_a_perfect_judge_is_never_wrong_about_what_it_is_shown(tmp_path: Path) -> None:
    perfect = figures(tmp_path / "f.json", "--certain-in", "1")["perfect judge"]

    assert (perfect["precision"], perfect["false"]) == (1.0, 0.0)
    assert perfect["served"] > 0.5


def test_a_recorded_file_holds_no_text_of_prompts_or_records(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    with ModelServer(says('{"keep": []}')) as server:
        configure(server)
        figures(tmp_path / "f.json", "--record", str(file))

    for line in map(json.loads, file.read_text().splitlines()):
        assert line["model"] == "claude-haiku-5-5"
        for value in (line["prompt"], *line["shown"], *line["kept"]):
            assert len(value) == 32
            int(value, 16)


def test_what_was_not_recorded_counts_as_a_failure(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    line = {"model": "m", "prompt": "p", "shown": ["n"], "kept": [], "tokens_in": 9, "tokens_out": 1, "seconds": 0.5}
    file.write_text(json.dumps(line) + "\n")

    judged = figures(tmp_path / "f.json", "--replay", str(file))["relevance model + judge"]

    assert judged["failures"] == judged["requests"] > 0


def test_a_model_that_fails_is_measured_as_it_is(tmp_path: Path) -> None:
    with ModelServer(answers({}, 500)) as server:
        configure(server)
        judged = figures(tmp_path / "f.json", "--ask")["relevance model + judge"]

    assert judged["failures"] == judged["requests"] == len(server.requests) > 0


@pytest.mark.parametrize("text", ["", "not JSON\n", "[]\n", '{"model": "m"}\n'])
def test_a_file_that_holds_no_verdicts_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "verdicts.jsonl"
    file.write_text(text)

    assert main([*SHORT, "--replay", str(file)]) == 1

    assert "BAD_INPUT" in capsys.readouterr().err


def test_without_a_key_recording_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHORT, "--record", str(tmp_path / "f")]) == 1

    assert "NO_MODEL: there is no key for the judge" in capsys.readouterr().err


def test_the_page_has_the_figures_that_were_measured():
    root = Path(__file__).parents[2]
    measured = json.loads((root / "bench" / "results" / "judge.json").read_text(encoding="utf-8"))

    page = bench_judge.PAGE.read_text(encoding="utf-8")
    assert bench_judge.table(measured["figures"]) in page
