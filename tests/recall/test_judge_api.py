from __future__ import annotations

import gzip
import json
import time
from typing import Any, NamedTuple

import pytest

from onrecord.errors import ModelFailed, NoModel
from onrecord.recall import judge_api
from onrecord.recall.judge import ANSWER_SCHEMA, SYSTEM_PROMPT
from onrecord.settings import Settings
from tests import model_server
from tests.model_server import Behaviour, ModelServer, answers, message, says, whole

KEY = "sk-ant-test-0123456789abcdef0123"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def settings(**given: object) -> Settings:
    made = Settings()
    made.take("test", True, {f"retrieval.judge.{key}": value for key, value in given.items()})
    assert made.problems == []
    return made


class Reply(NamedTuple):
    text: str
    tokens_in: int
    tokens_out: int


def ask(server: ModelServer, seconds: float = 120.0, **given: Any) -> Reply:
    environ = {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}
    model = judge_api.configured_model(settings(**given), environ)
    return Reply(*judge_api.send_question(model, "question", time.monotonic() + seconds))


def test_an_answer_is_the_text_block_wherever_it_stands() -> None:
    with ModelServer(says('{"keep": [2]}')) as server:
        reply = ask(server)

    assert reply == ('{"keep": [2]}', 1_000, 20)


def test_the_anthropic_request_has_what_the_model_takes_and_nothing_it_refuses() -> None:
    with ModelServer(says("ok")) as server:
        ask(server)

    (request,) = server.requests
    assert request.line == "POST /v1/messages HTTP/1.1"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.headers["accept-encoding"] == "identity"
    assert request.body == {
        "model": "claude-haiku-5-5",
        "max_tokens": judge_api.MAX_TOKENS,
        "system": SYSTEM_PROMPT,
        "messages": [{"role": "user", "content": "question"}],
        "output_config": {"format": {"type": "json_schema", "schema": ANSWER_SCHEMA}, "effort": "low"},
    }


def test_an_older_model_is_not_sent_an_effort() -> None:
    with ModelServer(says("ok")) as server:
        ask(server, model="claude-haiku-4-5")

    assert server.requests[0].body["output_config"] == {"format": {"type": "json_schema", "schema": ANSWER_SCHEMA}}


def test_the_openai_request_and_answer() -> None:
    said = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    with ModelServer(answers(said)) as server:
        reply = ask(server, provider="openai", model="qwen3:4b")

    (request,) = server.requests
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert "authorization" not in request.headers
    assert request.body["model"] == "qwen3:4b"
    assert request.body["messages"][0] == {"role": "system", "content": SYSTEM_PROMPT}
    assert request.body["response_format"]["json_schema"] == {
        "name": "verdict",
        "strict": True,
        "schema": ANSWER_SCHEMA,
    }
    assert request.body["max_tokens"] == judge_api.MAX_TOKENS
    assert "temperature" not in request.body
    assert reply == ("yes", 7, 3)


def test_openai_content_may_be_parts() -> None:
    parts = [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "yes"}]
    with ModelServer(answers({"choices": [{"message": {"content": parts}}]})) as server:
        assert ask(server, provider="openai", model="m").text == "yes"


def test_a_server_that_refuses_a_schema_is_asked_plainly_and_remembered() -> None:
    def behave(server: ModelServer, connection: Any, request: model_server.Request) -> None:
        bad = "output_config" in request.body
        body = {"error": {"message": "output_config: not permitted"}} if bad else message("ok")
        connection.sendall(whole(json.dumps(body).encode(), 400 if bad else 200))

    with ModelServer(behave) as server:
        assert [ask(server).text, ask(server).text] == ["ok", "ok"]

    assert ["output_config" in request.body for request in server.requests] == [True, False, False]


def test_a_server_that_refuses_everything_is_not_remembered_as_plain() -> None:
    with ModelServer(answers({}, 400)) as server:
        for _ in range(2):
            with pytest.raises(ModelFailed, match="HTTP 400"):
                ask(server)

    assert ["output_config" in request.body for request in server.requests] == [True, False, True, False]


@pytest.mark.parametrize("status", [401, 403, 404, 408, 413, 429, 500, 502, 503, 529])
def test_an_error_status_fails_without_the_servers_words(status: int) -> None:
    complains = answers({"error": {"message": f"your key {KEY} is bad"}}, status)
    with ModelServer(complains) as server, pytest.raises(ModelFailed) as caught:
        ask(server)

    assert caught.value.message == f"HTTP {status}"
    assert caught.value.fix
    assert caught.value.http_status == status
    assert len(server.requests) == 1


BAD: dict[str, Behaviour] = {
    "half a body": model_server.breaks_off,
    "half a chunk": model_server.breaks_off_in_a_chunk,
    "reset": model_server.resets,
    "no byte": model_server.says_nothing,
    "not HTTP": model_server.talks_garbage,
    "100 MB": model_server.floods,
    "100 MB announced": model_server.announces_a_flood,
    "gzip bomb": model_server.bombs,
    "gzip cut off": answers(gzip.compress(json.dumps(message("ok")).encode())[:-12], Content_Encoding="gzip"),
    "gzip that nobody asked for": answers(gzip.compress(json.dumps(message("ok")).encode()), Content_Encoding="gzip"),
    "another compression": answers(b"\x8b\x00", Content_Encoding="br"),
    "a web page": answers(b"<html>Sign in to the hotel network</html>", Content_Language="en"),
    "a list": answers([1]),
    "a number of unusual size": answers(b"9" * 5_000),
    "not UTF-8": answers(b'{"content": "\xff"}'),
    "deep nesting": answers(b'{"content":' + b"[" * 100_000),
    "nothing": answers(b""),
    "no content": answers({"type": "message"}),
    "content of the wrong type": answers({"content": "text"}),
    "only thinking": answers({"content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "max_tokens"}),
    "text of the wrong type": answers({"content": [{"type": "text", "text": 7}, None, "x"]}),
    "refusal": answers(message("I will not", stop_reason="refusal")),
}


@pytest.mark.parametrize("behave", BAD.values(), ids=BAD.keys())
def test_what_is_no_answer_fails(behave: Behaviour) -> None:
    with ModelServer(behave) as server, pytest.raises(ModelFailed) as caught:
        ask(server)

    assert KEY not in str(caught.value)
    assert server.sent < model_server.HUNDRED_MB / 4


@pytest.mark.parametrize("behave", [model_server.floods, model_server.announces_a_flood])
def test_an_answer_without_end_is_cut_off_for_its_size(behave: Behaviour) -> None:
    with ModelServer(behave) as server, pytest.raises(ModelFailed, match="larger than 1 MB"):
        ask(server)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": [{}]},
        {"choices": ["x"]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": "no", "refusal": "I will not"}}]},
    ],
)
def test_what_is_no_openai_answer_fails(body: object) -> None:
    with ModelServer(answers(body)) as server, pytest.raises(ModelFailed):
        ask(server, provider="openai", model="m")


@pytest.mark.parametrize("behave", [model_server.hangs, model_server.hangs_in_the_body])
def test_a_slow_server_is_given_up_while_it_is_still_busy(behave: Behaviour) -> None:
    with ModelServer(behave) as server:
        with pytest.raises(ModelFailed, match="time"):
            ask(server, seconds=0.2)

        assert not server.released.is_set()


def test_nothing_is_sent_after_the_deadline() -> None:
    with ModelServer(says("ok")) as server, pytest.raises(ModelFailed, match="no answer in time"):
        ask(server, seconds=-1)

    assert server.requests == []


def test_a_right_answer_of_the_wrong_content_type_is_taken() -> None:
    data = json.dumps(message("ok")).encode()
    page = model_server.head(Content_Type="text/plain", Content_Length=len(data)) + data
    with ModelServer(lambda server, connection, request: connection.sendall(page)) as server:
        assert ask(server).text == "ok"


def test_a_chunked_answer_is_put_together() -> None:
    data = json.dumps(message("ok")).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[:9], data[9:])) + b"0\r\n\r\n"
    page = model_server.head(Transfer_Encoding="chunked") + chunks
    with ModelServer(lambda server, connection, request: connection.sendall(page)) as server:
        assert ask(server).text == "ok"


def test_a_server_that_keeps_the_connection_open_is_not_waited_for() -> None:
    def behave(server: ModelServer, connection: Any, request: model_server.Request) -> None:
        connection.sendall(whole(json.dumps(message("ok")).encode(), Connection="keep-alive"))
        server.released.wait(timeout=60)

    with ModelServer(behave) as server:
        assert ask(server).text == "ok"
        assert not server.released.is_set()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_to_another_host(status: int) -> None:
    with ModelServer(says("stolen")) as other:
        place = other.url.replace("127.0.0.1", "localhost") + "/v1/messages?token=secret"
        redirects = answers({}, status, Location=place)
        with ModelServer(redirects) as server, pytest.raises(ModelFailed, match=f"HTTP {status}") as caught:
            ask(server)

    assert other.requests == []
    assert "localhost" in caught.value.fix
    assert "secret" not in caught.value.fix


@pytest.mark.parametrize("headers", [{}, {"Location": "/v2/messages"}])
def test_a_redirect_without_a_host_names_none(headers: dict[str, str]) -> None:
    with ModelServer(answers({}, 307, **headers)) as server, pytest.raises(ModelFailed, match="HTTP 307") as caught:
        ask(server)

    assert "None" not in caught.value.fix
    assert "retrieval.judge.endpoint" in caught.value.fix


def test_a_redirect_to_an_address_that_cannot_be_read_is_a_failure_of_the_model() -> None:
    with ModelServer(answers({}, 302, Location="http://[::1")) as server, pytest.raises(ModelFailed):
        ask(server)


def test_nobody_at_the_endpoint_is_a_failure() -> None:
    with ModelServer(says("ok")) as server:
        pass
    model = judge_api.configured_model(settings(endpoint=server.url))

    with pytest.raises(ModelFailed, match="refused"):
        judge_api.send_question(model, "q", time.monotonic() + 120)


def test_a_host_without_an_address_is_a_failure() -> None:
    model = judge_api.configured_model(settings(endpoint="http://nowhere.invalid"))

    with pytest.raises(ModelFailed, match="no answer"):
        judge_api.send_question(model, "q", time.monotonic() + 120)


def test_a_label_too_long_for_a_host_is_a_failure() -> None:
    model = judge_api.configured_model(settings(endpoint=f"http://{'a' * 70}.example"))

    with pytest.raises(ModelFailed, match="no answer"):
        judge_api.send_question(model, "q", time.monotonic() + 120)


def test_the_environments_proxy_is_used_except_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(says("by proxy")) as proxy, ModelServer(says("straight")) as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        far = judge_api.configured_model(settings(endpoint="http://models.example"))

        assert ask(server).text == "straight"
        assert judge_api.send_question(far, "q", time.monotonic() + 120)[0] == "by proxy"

    assert proxy.requests[0].line == "POST http://models.example/v1/messages HTTP/1.1"


class TestProvider:
    """Where the model, its address and its key come from."""

    @pytest.mark.parametrize(
        ("shape", "base", "url"),
        [
            ("anthropic", "", "https://api.anthropic.com/v1/messages"),
            ("anthropic", "http://gate.example:4000", "http://gate.example:4000/v1/messages"),
            ("anthropic", "http://gate.example/anthropic/", "http://gate.example/anthropic/v1/messages"),
            ("anthropic", "http://gate.example/v1", "http://gate.example/v1/messages"),
            ("anthropic", "http://gate.example/v1/messages", "http://gate.example/v1/messages"),
            ("openai", "", "https://api.openai.com/v1/chat/completions"),
            ("openai", "http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
            ("openai", "http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("openai", "http://[::1]:80/api?v=2", "http://[::1]:80/api/chat/completions?v=2"),
        ],
    )
    def test_the_address(self, shape: str, base: str, url: str) -> None:
        environ = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
        assert judge_api.configured_model(settings(provider=shape, endpoint=base, model="m"), environ).url == url

    @pytest.mark.parametrize(
        "base",
        [
            "file:///etc/passwd",
            "ftp://a.example",
            "gate.example",
            "http://",
            "http://me:hunter2@gate.example",
            "http://gate.example:port",
            "http://[::1",
            "http://gate.example/a b",
            "http://gate.example/\r\nX: y",
        ],
    )
    def test_an_address_that_cannot_be_used_is_refused_and_not_repeated(self, base: str) -> None:
        with pytest.raises(NoModel) as caught:
            judge_api.configured_model(settings(endpoint=base), {"ANTHROPIC_API_KEY": KEY})

        assert caught.value.message == "the judge's endpoint is not an http or https address"
        assert caught.value.fix.endswith(": onrecord config retrieval.judge.endpoint")
        assert "hunter2" not in str(caught.value) + caught.value.fix

    def test_the_users_config_wins_over_the_environment(self) -> None:
        environ = {"ANTHROPIC_BASE_URL": "http://env.example", "ANTHROPIC_API_KEY": KEY}

        model = judge_api.configured_model(settings(endpoint="http://config.example"), environ)

        assert model.address == "http://config.example/v1/messages"

    def test_the_usual_key_is_not_sent_to_an_endpoint_of_ones_own(self) -> None:
        environ = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": KEY}
        for shape in ("anthropic", "openai"):
            model = judge_api.configured_model(
                settings(provider=shape, endpoint="http://config.example", model="m"), environ
            )
            assert KEY not in str(model.headers)

    def test_a_named_key_is_sent_to_an_endpoint_of_ones_own(self) -> None:
        model = judge_api.configured_model(
            settings(provider="openai", endpoint="https://g.example", model="m", api_key_env="GATE_KEY"),
            {"GATE_KEY": " abc \n"},
        )

        assert model.headers["Authorization"] == "Bearer abc"

    def test_a_token_is_a_bearer_and_wins_over_a_key(self) -> None:
        model = judge_api.configured_model(settings(), {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": "tok"})

        assert model.headers["Authorization"] == "Bearer tok"
        assert "x-api-key" not in model.headers

    def test_the_environment_may_name_the_small_model(self) -> None:
        environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_DEFAULT_HAIKU_MODEL": "corp-haiku"}
        assert judge_api.configured_model(settings(), environ).name == "corp-haiku"
        assert judge_api.configured_model(settings(model="mine"), environ).name == "mine"

    @pytest.mark.parametrize("shape", ["anthropic", "openai"])
    def test_the_providers_own_place_needs_a_key(self, shape: str) -> None:
        with pytest.raises(NoModel, match=f"{shape.upper()}_API_KEY is not set"):
            judge_api.configured_model(settings(provider=shape, model="m"), {})

    def test_openai_needs_a_model_to_be_named(self) -> None:
        with pytest.raises(NoModel, match="no model is named"):
            judge_api.configured_model(settings(provider="openai", endpoint="http://localhost:11434"), {})

    @pytest.mark.parametrize("named", [KEY, "gsk_abcdef0123456789", "MY KEY", "ÄKEY", "$KEY"])
    def test_a_key_put_where_its_variable_belongs_is_refused_and_not_repeated(self, named: str) -> None:
        with pytest.raises(NoModel) as caught:
            judge_api.configured_model(settings(api_key_env=named), {})

        assert named not in str(caught.value) + caught.value.fix

    @pytest.mark.parametrize("key", ["abc\r\nX-Evil: 1", "ab c", "schlüssel"])
    def test_a_value_that_cannot_be_a_key_is_refused_and_not_repeated(self, key: str) -> None:
        with pytest.raises(NoModel) as caught:
            judge_api.configured_model(settings(), {"ANTHROPIC_API_KEY": key})

        assert key not in str(caught.value) + caught.value.fix

    def test_a_query_in_the_address_is_not_shown(self) -> None:
        model = judge_api.configured_model(settings(endpoint="https://g.example/v1?api-key=abc"), {})

        assert model.url == "https://g.example/v1/messages?api-key=abc"
        assert model.address == "https://g.example/v1/messages"


def test_the_largest_answer_that_is_taken_is_one_megabyte() -> None:
    text = "x" * (judge_api.MAX_ANSWER_BYTES - len(json.dumps(message(""))))
    with ModelServer(answers(message(text))) as server:
        assert ask(server).text == text
    with ModelServer(answers(message(text + "x"))) as server, pytest.raises(ModelFailed, match="larger than 1 MB"):
        ask(server)
