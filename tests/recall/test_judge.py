from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from onrecord import paths, state_file
from onrecord.cli import main
from onrecord.errors import ModelFailed, NoModel
from onrecord.recall import judge, judge_api
from onrecord.recall.judge import CERTAIN_IN, CERTAIN_OUT, DROPPED, KEPT, UNJUDGED, Ruling
from onrecord.setting_table import SETTINGS, Setting
from onrecord.settings import Settings, load_settings
from tests import model_server
from tests.model_server import Behaviour, ModelServer, answers, keeps, message, notes, says, whole

SRC = str(Path(__file__).parents[2] / "src")
KEY = "sk-ant-test-0123456789abcdef0123"
THRESHOLD = 0.5
GENEROUS = 60
"""Seconds for an answer that comes at once: more than a prompt may wait, so that a busy machine is never too slow."""


class Note(NamedTuple):
    id: str
    probability: float
    category: str = "decision"
    tags: tuple[str, ...] = ("a",)

    @property
    def title(self) -> str:
        return f"Title {self.id}"

    @property
    def summary_line(self) -> str:
        return f"Essence of {self.id}."


A, B, C, D = (Note(name, chance) for name, chance in zip("abcd", (0.8, 0.7, 0.6, 0.3)))
FEW = [A, B, C, D]
MANY = [Note(f"n{number:02}", 0.9 - number / 25) for number in range(12)]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = Setting(3.0, "", minimum=0.1, maximum=GENEROUS, user_only=True)
    monkeypatch.setitem(SETTINGS, "retrieval.judge.timeout_seconds", limit)
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "OPENAI_")) or "proxy" in name.lower()]:
        monkeypatch.delenv(name)


def settings(server: ModelServer | None = None, **given: object) -> Settings:
    made = Settings()
    given = {"enabled": True, "endpoint": server.url if server else "", "timeout_seconds": GENEROUS, **given}
    made.take("test", True, {f"retrieval.judge.{key}": value for key, value in given.items()})
    assert made.problems == []
    return made


def kept(server: ModelServer, found: list[Note], prompt: str = "Do it", **given: object) -> list[Note]:
    return shown(found, judge.verdicts(prompt, found, ["an earlier turn"], settings(server, **given)))


def shown(found: list[Note], verdicts: Sequence[bool | None]) -> list[Note]:
    """Return the notes that are shown as rules: those kept, and of those without a verdict what ranking shows."""
    assert len(found) == len(verdicts)
    return [
        note
        for note, verdict in zip(found, verdicts)
        if (note.probability >= THRESHOLD if verdict is None else verdict)
    ]


def traces() -> list[str]:
    return [f"{what}: {error}" for _, what, error in state_file.recent_failures()]


def test_it_is_off_by_default() -> None:
    assert not judge.is_on(Settings())
    assert judge.is_on(settings())


def test_the_model_decides_and_the_order_stays_the_rankings() -> None:
    with ModelServer(keeps(D.title, A.title)) as server:
        assert kept(server, FEW) == [A, D]

    (request,) = server.requests
    shown = request.body["messages"][0]["content"]
    assert "<turn>an earlier turn</turn>" in shown
    assert len(notes(shown)) == 4
    assert traces() == []


def test_the_model_may_keep_nothing() -> None:
    with ModelServer(says('{"keep": []}')) as server:
        assert kept(server, FEW) == []


def test_the_same_record_id_in_two_stores_is_two_candidates() -> None:
    mine, ours = Note("x", 0.6, "decision"), Note("x", 0.6, "runbook")

    def behave(server: ModelServer, connection: Any, request: model_server.Request) -> None:
        shown = notes(request.body["messages"][0]["content"])
        number = 1 + next(at for at, note in enumerate(shown) if "runbook" in note)
        connection.sendall(whole(json.dumps(message(json.dumps({"keep": [number]}))).encode()))

    with ModelServer(behave) as server:
        assert kept(server, [mine, ours]) == [ours]


@pytest.mark.parametrize(
    ("chances", "expected"),
    [((0.99, 0.97, 0.01), ["0", "1"]), ((0.01, 0.02), []), ((0.99,), ["0"]), ((), [])],
)
def test_nothing_is_sent_when_ranking_is_certain(chances: tuple[float, ...], expected: list[str]) -> None:
    found = [Note(str(number), chance) for number, chance in enumerate(chances)]
    with ModelServer(model_server.hangs) as server:
        assert [note.id for note in kept(server, found)] == expected

    assert server.requests == []


def test_only_what_ranking_is_unsure_of_is_sent() -> None:
    sure, unsure, out = Note("sure", 0.99), Note("unsure", 0.5), Note("out", 0.01)
    with ModelServer(says('{"keep": []}')) as server:
        assert kept(server, [sure, unsure, out]) == [sure]
        assert kept(server, [sure, unsure, out], certain_in=1, certain_out=0) == []

    assert [len(notes(request.body["messages"][0]["content"])) for request in server.requests] == [1, 3]


def test_at_most_so_many_candidates_are_sent_the_likeliest_of_them() -> None:
    found = [Note(f"n{number}", 0.3 + number / 100) for number in range(20)]
    with ModelServer(says('{"keep": []}')) as server:
        kept(server, found)

    shown = "\n".join(request.body["messages"][0]["content"] for request in server.requests)
    assert [note.id for note in found if f'title="{note.title}"' in shown] == [f"n{number}" for number in range(5, 20)]


def test_up_to_six_candidates_are_one_request_and_more_are_two() -> None:
    with ModelServer(says('{"keep": []}')) as server:
        kept(server, MANY[:6])
        assert len(server.requests) == 1
        kept(server, MANY[:7])
        assert len(server.requests) == 3

    sizes = [len(notes(request.body["messages"][0]["content"])) for request in server.requests]
    assert sorted(sizes[1:]) == [3, 4]


def test_the_two_requests_run_side_by_side() -> None:
    together = threading.Barrier(2)

    def behave(server: ModelServer, connection: socket.socket, request: model_server.Request) -> None:
        together.wait(timeout=GENEROUS)
        keeps(MANY[0].title, MANY[11].title)(server, connection, request)

    with ModelServer(behave) as server:
        assert kept(server, MANY) == [MANY[0], MANY[11]]


SLOW = (model_server.hangs, model_server.hangs_in_the_body, model_server.drips_headers, model_server.drips_body)
BAD: dict[str, Behaviour] = {
    "slow headers": model_server.hangs,
    "slow body": model_server.hangs_in_the_body,
    "dripping headers": model_server.drips_headers,
    "dripping body": model_server.drips_body,
    "half a body": model_server.breaks_off,
    "reset": model_server.resets,
    "no byte": model_server.says_nothing,
    "garbage": model_server.talks_garbage,
    "100 MB": model_server.floods,
    "gzip bomb": model_server.bombs,
    "a web page": answers(b"<html></html>"),
    "401": answers({"error": {"message": f"{KEY} is no key"}}, 401),
    "400": answers({}, 400),
    "500": answers({}, 500),
    "redirect": answers({}, 307, Location="http://elsewhere.invalid/"),
    "refusal": answers(message("no", stop_reason="refusal")),
    "chatter": says("They all look useful!"),
    "out of range": says('{"keep": [77]}'),
    "not a list": says('{"keep": "all"}'),
}


@pytest.mark.parametrize("behave", BAD.values(), ids=BAD.keys())
def test_after_a_failure_ranking_decides_and_one_trace_is_left(
    behave: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATE_KEY", KEY)
    # Long enough that a busy machine has sent its request by then.
    limit = 3 if behave in SLOW else GENEROUS
    with ModelServer(behave) as server:
        assert kept(server, FEW, timeout_seconds=limit, api_key_env="GATE_KEY") == [A, B, C]

        assert not server.released.is_set()
    assert server.requests[0].headers["x-api-key"] == KEY
    (line,) = traces()
    assert line.startswith("judge: ")
    assert KEY not in line


def test_a_failure_leaves_no_verdict_not_even_where_ranking_was_certain() -> None:
    sure, out = Note("sure", 0.99), Note("out", 0.01)
    with ModelServer(answers({}, 500)) as server:
        assert judge.verdicts("Do it", [sure, C, out], [], settings(server)) == [None, None, None]


def test_with_nobody_at_the_endpoint_ranking_decides() -> None:
    with ModelServer(says("ok")) as server:
        pass

    assert kept(server, FEW) == [A, B, C]
    assert len(traces()) == 1


def late_for(*titles: str) -> Behaviour:
    """A model that answers only the batch without these notes, and keeps all of that."""

    def behave(server: ModelServer, connection: socket.socket, request: model_server.Request) -> None:
        shown = notes(request.body["messages"][0]["content"])
        if any(f'title="{title}"' in note for title in titles for note in shown):
            server.released.wait(timeout=60)
        numbers = list(range(1, len(shown) + 1))
        connection.sendall(whole(json.dumps(message(json.dumps({"keep": numbers}))).encode()))

    return behave


@pytest.mark.parametrize("absent", [0, 11])
def test_a_late_batch_is_not_waited_for_and_the_other_counts(absent: int) -> None:
    with ModelServer(late_for(MANY[absent].title)) as server:
        found = kept(server, MANY, timeout_seconds=4)

        assert not server.released.is_set()
    batches = [
        {note.id for note in MANY if f'title="{note.title}"' in request.body["messages"][0]["content"]}
        for request in server.requests
    ]
    judged = next(batch for batch in batches if MANY[absent].id not in batch)
    assert found == [note for note in MANY if note.id in judged or note.probability >= THRESHOLD]
    assert traces() == ["judge: no answer in time"]


def test_if_both_batches_are_late_ranking_decides_with_a_trace_each() -> None:
    with ModelServer(model_server.hangs) as server:
        assert kept(server, MANY, timeout_seconds=0.3) == [note for note in MANY if note.probability >= THRESHOLD]

    assert traces() == ["judge: no answer in time"] * 2


def test_a_bug_in_asking_is_not_taken_for_a_failing_model() -> None:
    def ask(prompt: str, batch: Sequence[Note], turns: Sequence[str], deadline: float) -> Ruling:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        judge.form_opinion("p", FEW, [], settings(), judge_batch=ask)


def test_without_a_key_ranking_decides_and_one_line_a_day_says_so() -> None:
    for prompt in ("one", "two"):
        assert judge.verdicts(prompt, FEW, [], settings()) == [None] * 4
        assert judge.verdicts(prompt, FEW, [], settings()) == [None] * 4

    (line,) = traces()
    assert line.startswith("judge (info): there is no key for the judge: ANTHROPIC_API_KEY is not set")


def test_the_same_prompt_is_asked_again() -> None:
    with ModelServer(answers({}, 500)) as server:
        assert kept(server, FEW) == [A, B, C]
        server.behave = keeps(D.title)
        assert [kept(server, FEW) for _ in range(2)] == [[D]] * 2

    assert len(server.requests) == 3


class TestDailyCap:
    """How much the judge may do in a day."""

    def test_at_the_cap_ranking_decides_and_one_trace_says_so(self) -> None:
        with ModelServer(keeps(D.title)) as server:
            found = [kept(server, FEW, prompt=f"p{number}", daily_cap=2) for number in range(4)]

        assert found == [[D], [D], [A, B, C], [A, B, C]]
        assert len(server.requests) == 2
        (line,) = traces()
        assert "daily cap of 2 requests (retrieval.judge.daily_cap) is reached" in line

    def test_two_batches_count_twice_and_are_sent_both_or_not_at_all(self) -> None:
        with ModelServer(says('{"keep": []}')) as server:
            kept(server, MANY, prompt="one", daily_cap=3)
            kept(server, MANY, prompt="two", daily_cap=3)

        assert len(server.requests) == 2
        assert len(traces()) == 1

    def test_a_cap_of_nought_sends_nothing(self) -> None:
        with ModelServer(model_server.hangs) as server:
            assert kept(server, FEW, daily_cap=0) == [A, B, C]

        assert server.requests == []

    def test_racing_prompts_never_overdraw_it(self) -> None:
        script = "from onrecord.recall import judge_api; print(sum(judge_api.claim_requests(1, 60) for _ in range(40)))"
        environment = {**os.environ, "PYTHONPATH": SRC}

        def run(_: int) -> int:
            done = subprocess.run(
                [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=120
            )
            return int(done.stdout)

        with ThreadPoolExecutor(4) as pool:
            granted = list(pool.map(run, range(4)))

        assert sum(granted) == 60
        assert len(traces()) == 1

    def test_each_day_has_its_own_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        days = iter(["2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z", "2026-03-02T00:00:01Z"])
        monkeypatch.setattr("onrecord.timestamps.now", lambda: next(days))

        assert [judge_api.claim_requests(1, 1), judge_api.claim_requests(1, 1)] == [True, True]
        assert judge_api.requests_today() == 1

    def test_what_cannot_be_counted_is_not_sent(self) -> None:
        os.makedirs(paths.state_dir())
        Path(judge_api.state_folder()).write_text("in the way")

        with ModelServer(model_server.hangs) as server:
            assert kept(server, FEW) == [A, B, C]

        assert server.requests == []
        assert traces()[-1] == "judge: requests cannot be counted, so none is sent"

    def test_what_is_a_month_old_is_pruned(self) -> None:
        judge_api.add_marker("old")
        (old,) = Path(judge_api.state_folder()).iterdir()
        os.utime(old, (0, 0))

        judge_api.claim_requests(1, 9)

        state_file.prune()

        assert [path.name.split("-")[0] for path in Path(judge_api.state_folder()).iterdir()] == ["requests"]


class TestVerdicts:
    """What `why --judge` and the benchmark ask for."""

    def test_each_candidate_has_an_outcome_and_the_whole_its_tokens(self) -> None:
        sure, out = Note("sure", 0.99), Note("out", 0.01)
        with ModelServer(keeps(B.title)) as server:
            opinion = judge.form_opinion("p", [sure, *FEW, out], [], settings(server))

        assert opinion.outcomes == [CERTAIN_IN, DROPPED, KEPT, DROPPED, DROPPED, CERTAIN_OUT]
        assert (opinion.requests, opinion.tokens_in, opinion.tokens_out) == (1, 1_000, 20)
        assert opinion.failures == []
        assert opinion.seconds > 0

    def test_a_failure_is_told_and_leaves_no_trace(self) -> None:
        with ModelServer(answers({}, 500)) as server:
            opinion = judge.form_opinion("p", FEW, [], settings(server))

        assert (opinion.outcomes, [failure.message for failure in opinion.failures]) == ([UNJUDGED] * 4, ["HTTP 500"])
        assert traces() == []

    def test_somebody_else_may_be_asked(self) -> None:
        def ask(prompt: str, batch: Sequence[Note], turns: Sequence[str], deadline: float) -> Ruling:
            return Ruling([at for at, candidate in enumerate(batch) if candidate.id in ("a", "d")])

        opinion = judge.form_opinion("p", FEW, [], settings(), judge_batch=ask)
        assert opinion.verdicts == [True, False, False, True]

    def test_nobody_to_ask_is_an_error(self) -> None:
        with pytest.raises(NoModel):
            judge.form_opinion("p", FEW, [], settings())


class TestTrust:
    """A project cannot make the machine talk to anybody."""

    KEYS = [key for key in SETTINGS if key.startswith("retrieval.judge.")]

    def test_every_setting_of_the_judge_is_the_users_alone(self) -> None:
        assert len(self.KEYS) >= 10
        assert all(SETTINGS[key].user_only for key in self.KEYS)

    def test_a_project_that_names_an_endpoint_is_ignored_with_a_warning(self, tmp_path: Path) -> None:
        judged = {"enabled": True, "endpoint": "http://evil.example", "api_key_env": "AWS_SECRET_ACCESS_KEY"}
        (tmp_path / paths.CONFIG).write_text(json.dumps({"retrieval": {"judge": judged}}))

        loaded = load_settings(str(tmp_path))

        assert not judge.is_on(loaded)
        assert loaded.text("retrieval.judge.endpoint") == ""
        assert sorted(problem.key for problem in loaded.problems) == [
            "retrieval.judge.api_key_env", "retrieval.judge.enabled", "retrieval.judge.endpoint",
        ]  # fmt: skip
        assert all("in your own config only" in problem.message for problem in loaded.problems)


def run_python(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-E", "-c", f"import sys; sys.path.insert(0, {SRC!r})\n{script}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def write_user_config(**given: object) -> None:
    os.makedirs(paths.user_store(), exist_ok=True)
    text = json.dumps({"retrieval": {"judge": {"enabled": True, **given}}})
    Path(paths.user_store(), paths.CONFIG).write_text(text)


@pytest.mark.parametrize("behave", [model_server.hangs, model_server.drips_headers, model_server.drips_body])
def test_a_process_ends_although_the_model_still_hangs(behave: Behaviour) -> None:
    script = """
from types import SimpleNamespace as N
from onrecord.settings import load_settings
from onrecord.recall import judge
note = {"title": "t", "category": "decision", "tags": (), "summary_line": "e"}
found = [N(id=f"n{n}", probability=0.9 - n / 25, **note) for n in range(12)]
print(set(judge.verdicts("p", found, [], load_settings(""))), flush=True)
"""
    with ModelServer(behave) as server:
        # On a busy machine the first limits may pass before anything is sent.
        for limit in (0.5, 1, 2, 2.5):
            if len(server.requests) < 2:
                write_user_config(endpoint=server.url, timeout_seconds=limit)
                done = run_python(script)

        assert not server.released.is_set()
        assert len(server.requests) >= 2
    assert (done.returncode, done.stdout, done.stderr) == (0, "{None}\n", "")


HEAVY = {"urllib", "http", "ssl", "socket", "threading", "queue", "email", "json", "re", "typing", "collections"}


def test_asking_whether_it_is_on_imports_nothing_heavy() -> None:
    done = run_python(
        "from onrecord.settings import load_settings; from onrecord.recall import judge\n"
        "print(judge.is_on(load_settings('')), *sorted({name.split('.')[0] for name in sys.modules}))"
    )

    loaded = set(done.stdout.split())
    assert "False" in loaded
    assert loaded & HEAVY == set()


def test_with_the_judge_off_a_prompt_loads_nothing_of_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    given = json.dumps({"title": "Tabs", "content": {"topic": "indentation", "value": "tabs", "reason": "width"}})
    subprocess.run(
        [sys.executable, "-m", "onrecord", "save", "preference", "--json"],
        input=given, text=True, cwd=project, env={**os.environ, "PYTHONPATH": SRC}, check=True, capture_output=True,
        timeout=120,
    )  # fmt: skip
    event = json.dumps({"prompt": "tabs or spaces for indentation?", "session_id": "s", "cwd": str(project)})
    script = f"""
import io
sys.stdin = io.TextIOWrapper(io.BytesIO({event!r}.encode()))
from onrecord.hooks import main
main(["user_prompt_submit"])
print(*sorted(sys.modules), file=sys.stderr)
"""
    done = run_python(script)

    loaded = set(done.stderr.split())
    assert {"onrecord.hooks.prompt", "onrecord.recall.for_prompt", "onrecord.search"} <= loaded
    assert [name for name in loaded if name.startswith("onrecord.recall.judge")] == []
    assert {name.split(".")[0] for name in loaded} & {"urllib", "http", "ssl", "socket"} == set()


class TestCommand:
    """`onrecord judge test`."""

    def test_it_says_how_fast_and_in_how_many_tokens_the_model_answers(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GATE_KEY", KEY)
        with ModelServer(keeps("Webhook handlers are idempotent by event id")) as server:
            write_user_config(endpoint=server.url, api_key_env="GATE_KEY")
            assert main(["judge", "test"]) == 0

        told = capsys.readouterr().out
        assert f"claude-haiku-5-5 at {server.url}/v1/messages (key from GATE_KEY)" in told
        assert "answered in" in told
        assert "kept the right one" in told
        assert "1000 tokens in, 20 out\n" in told
        assert KEY not in told

    def test_as_json_it_has_every_figure(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ModelServer(says('{"keep": [1, 2, 3]}')) as server:
            write_user_config(endpoint=server.url, model="other")
            assert main(["judge", "test", "--json"]) == 1

        told = json.loads(capsys.readouterr().out)
        assert told["seconds"] > 0
        assert {key: told[key] for key in ("model", "right", "in_time", "tokens_in")} == {
            "model": "other", "right": False, "in_time": True, "tokens_in": 1_000,
        }  # fmt: skip

    def test_a_slow_model_is_said_to_be_too_slow(self, capsys: pytest.CaptureFixture[str]) -> None:
        def behave(server: ModelServer, connection: socket.socket, request: model_server.Request) -> None:
            server.released.wait(0.2)
            keeps("Webhook handlers are idempotent by event id")(server, connection, request)

        with ModelServer(behave) as server:
            write_user_config(endpoint=server.url, timeout_seconds=0.1)
            assert main(["judge", "test"]) == 1

        assert "too slow" in capsys.readouterr().out

    def test_a_failure_shows_the_servers_words_without_the_key(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GATE_KEY", "plain-key-hyacinth")
        said = {"error": {"message": f"model \x1b[31mx is unknown; you sent plain-key-hyacinth and {KEY}"}}
        with ModelServer(answers(said, 404)) as server:
            write_user_config(endpoint=server.url, api_key_env="GATE_KEY")
            assert main(["judge", "test"]) == 1

        told = capsys.readouterr().err
        assert "MODEL_FAILED: claude-haiku-5-5 at" in told
        assert "HTTP 404" in told
        assert "x is unknown" in told
        assert "hyacinth" not in told
        assert KEY not in told
        assert "\x1b" not in told
        assert "fix: check model, endpoint and key" in told

    def test_an_answer_that_drips_without_end_is_given_up(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("onrecord.cli.judge.PATIENCE", 0.3)
        with ModelServer(model_server.drips_body) as server:
            write_user_config(endpoint=server.url)
            assert main(["judge", "test"]) == 1

            assert not server.released.is_set()
        assert "no answer in time" in capsys.readouterr().err

    def test_while_the_judge_is_off_nothing_is_sent_and_it_says_how_to_turn_it_on(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with ModelServer(keeps("Webhook handlers are idempotent by event id")) as server:
            write_user_config(endpoint=server.url, enabled=False)
            assert main(["judge", "test"]) == 1

        assert server.requests == []
        assert capsys.readouterr().err.splitlines() == [
            "NO_MODEL: the judge is off, so no model is asked",
            "fix: onrecord config set --user retrieval.judge.enabled true",
            "docs: onrecord docs NO_MODEL",
        ]

    def test_without_a_key_it_says_what_to_do(self, capsys: pytest.CaptureFixture[str]) -> None:
        write_user_config()
        assert main(["judge", "test"]) == 1

        assert capsys.readouterr().err.splitlines() == [
            "NO_MODEL: there is no key for the judge: ANTHROPIC_API_KEY is not set",
            "fix: export ANTHROPIC_API_KEY, or turn the judge off",
            "docs: onrecord docs NO_MODEL",
        ]


def test_a_model_shown_in_a_traceback_does_not_show_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    model = judge_api.configured_model(settings())

    assert model.headers["x-api-key"] == KEY
    assert KEY not in f"{model!r} {model}"


def test_model_failed_keeps_the_servers_words_out_of_its_text() -> None:
    error = ModelFailed("HTTP 401", http_status=401, detail="secret words")

    assert "secret" not in str(error) + error.message + error.fix
