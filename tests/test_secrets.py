from __future__ import annotations

import pytest

from recollect.record import secrets
from recollect.record.secrets import Leak

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "an AWS access key": ["AKIA" + "Q" * 16, "key ASIA" + "Z9" * 8],
    "an AWS secret key": ["aws_secret_access_key = " + "aB3/" * 10],
    "a GitHub token": ["ghp_" + "a1" * 18, "github_pat_" + "x" * 60],
    "a GitLab token": ["glpat-" + "x" * 20],
    "a Slack token": ["xoxb-" + "123456789012-abc"],
    "a Slack webhook": ["https://hooks.slack.com/services/" + "T000/B000/" + "x" * 20],
    "a Stripe key": ["sk_live_" + "a" * 24],
    "a Google API key": ["AIza" + "x" * 35],
    "an Anthropic key": ["sk-ant-" + "api03-" + "x" * 40],
    "an OpenAI key": ["sk-proj-" + "x" * 40],
    "a Hugging Face token": ["hf_" + "x" * 34],
    "an npm token": ["npm_" + "x" * 36],
    "a SendGrid key": ["SG." + "x" * 22 + "." + "y" * 43],
    "a private key": ["-----BEGIN " + "RSA PRIVATE KEY-----", "-----BEGIN " + "PRIVATE KEY-----"],
    "a JSON web token": ["Bearer eyJ" + "a" * 20 + ".eyJ" + "b" * 20 + "." + "c" * 20],
    "a URL with a password": ["postgres://app:" + "s3cr3tpw@db.internal/app", "redis://:" + "longpassword@cache:6379"],
    "a password": ['password: "' + 'correct-horse"', "API_KEY='" + "abcdefgh1234'"],
}
HARMLESS = [
    "postgres://user:password@localhost/db", "postgres://app:${DB_PASSWORD}@db/app", "https://example.com:8080/a@b",
    "https://user:<password>@host", "password: see the vault", 'password = "changeme"', 'api_key="your-api-key-here"',
    "AKIAEXAMPLE", "git@github.com:owner/repo.git", "sk-learn", "the secret: tabs", "eyJ is how a JWT starts",
    "commit 0123456789abcdef0123456789abcdef01234567", "-----BEGIN CERTIFICATE-----", "ssh://git@host:22/x",
    'token = "xxxxxxxxxxxx"', "http://localhost:3000/@scope/package", "12:30 meeting @ noon",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts])
def test_credentials_are_found_and_masked(kind, text):
    (leak,) = secrets.leaks({"content": {"context": [f"we use {text} here"]}})

    assert (leak.where, leak.kind) == ("content.context[0]", kind)
    assert leak.masked.endswith("…")
    assert len(leak.masked) <= 5


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(text):
    assert list(secrets.leaks({"note": text})) == []


@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], {}, "", [None, {"a": None}]])
def test_values_without_text_carry_nothing(value):
    assert list(secrets.leaks(value)) == []


def test_a_credential_used_as_a_key_was_printed_in_full():
    key = "AKIA" + "Q" * 16

    leaks = list(secrets.leaks({"accounts": {key: "ghp_" + "a1" * 18}}))

    assert leaks == [
        Leak("a key of accounts", "an AWS access key", "AKIA…"),
        Leak("accounts.AKIA…", "a GitHub token", "ghp_…"),
    ]
    assert key not in "".join(map(str, leaks))


@pytest.mark.parametrize(
    ("text", "masked"), [("abcdefghi", "abcd…"), ("abcdefgh", "…"), ("", "…"), ("-----BEGIN X\nabc", "----…")]
)
def test_masks(text, masked):
    assert secrets.mask(text) == masked
