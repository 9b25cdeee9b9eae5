"""Provider: which model the user has chosen, where it is, and what opens it.

All of it comes from the user's own config and environment, never from a project. A key is only ever named in
a config, by the variable that holds it.
"""

from __future__ import annotations

import os

from recollect.errors import NoModel
from recollect.judge.api import Model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.settings import Settings

_SMALL = "claude-haiku-5-5"
_HOMES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
_HOME_HOSTS = ("api.anthropic.com", "api.openai.com")
_BASES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}
_KEYS = {"anthropic": ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"), "openai": ("OPENAI_API_KEY",)}
_PRICES = {
    "claude-haiku-5-5": (0.10, 0.50),
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-sonnet-5-5": (2.0, 10.0),
    "claude-opus-5-5": (4.0, 20.0),
}
"""Dollars for a million tokens in and out, as published in November 2026."""


def model(settings: Settings, environ: Mapping[str, str] = os.environ) -> Model:
    """The model the user has chosen; NoModel if it cannot be asked as things are."""
    provider = settings.text("retrieval.judge.provider")
    own = settings.text("retrieval.judge.endpoint")
    url, host = _address(provider, own or environ.get(_BASES[provider], "") or _HOMES[provider])
    is_home = host in _HOME_HOSTS
    # The usual key was made for the usual place: an endpoint of one's own needs a key named for it.
    usual = _KEYS[provider] if is_home or not own else ()
    key_from, key = _key(settings.text("retrieval.judge.api_key_env"), usual, environ, needed=is_home)
    name = _name(provider, settings, environ)
    headers = _headers(provider, key_from, key)
    return Model(provider, name, url, headers=headers, key_from=key_from, prices=prices(settings, name))


def _name(provider: str, settings: Settings, environ: Mapping[str, str]) -> str:
    name = settings.text("retrieval.judge.model")
    if not name and provider == "anthropic":
        name = environ.get("ANTHROPIC_DEFAULT_HAIKU_MODEL", "") or _SMALL
    if not name:
        raise NoModel("no model is named for the judge", fix="recollect config set --user retrieval.judge.model NAME")
    return name


def _address(provider: str, base: str) -> tuple[str, str]:
    """The full address of the API below a base, and its host. A base that names the API itself is taken as it is."""
    from urllib.parse import urlsplit

    wrong = NoModel(
        "the judge's endpoint is not an http or https address",
        fix="recollect config set --user retrieval.judge.endpoint https://HOST/PATH (no user name or password in it)",
    )
    try:
        parts = urlsplit(base)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or not _is_plain(base):
        raise wrong
    path = parts.path.rstrip("/")
    last = "/messages" if provider == "anthropic" else "/chat/completions"
    if not path.endswith(last):
        versioned = path.endswith("/v1") or (provider == "openai" and path)
        path += last if versioned else f"/v1{last}"
    return parts._replace(path=path, fragment="").geturl(), host


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _key(named: str, usual: tuple[str, ...], environ: Mapping[str, str], *, needed: bool) -> tuple[str, str]:
    """The variable a key was found in and the key; two empty texts where none is needed."""
    if named and not (named.isupper() and named.isidentifier() and named.isascii()):
        # Somebody may have put the key itself there, so it is not repeated.
        raise NoModel(
            "retrieval.judge.api_key_env is not the name of an environment variable in capitals",
            fix="name the variable that holds the key; a key never belongs in a file",
        )
    for name in (named,) if named else usual:
        key = environ.get(name, "").strip()
        if key and not _is_plain(key):
            raise NoModel(f"what {name} holds cannot be a key", fix=f"look for spaces or line breaks in {name}")
        if key:
            return name, key
    if named or needed:
        name = named or usual[-1]
        raise NoModel(f"there is no key for the judge: {name} is not set", fix=f"export {name}, or turn the judge off")
    return "", ""


def _headers(provider: str, key_from: str, key: str) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "recollect"}
    if provider == "anthropic":
        headers["anthropic-version"] = "2023-06-01"
    if not key:
        return headers
    if provider == "anthropic" and "TOKEN" not in key_from:
        headers["x-api-key"] = key
    else:
        headers["Authorization"] = f"Bearer {key}"
    return headers


def prices(settings: Settings, name: str) -> tuple[float, float] | None:
    """Dollars for a million tokens in and out: the user's figures, or the published ones."""
    own = settings.number("retrieval.judge.price_in"), settings.number("retrieval.judge.price_out")
    if any(own):
        return own
    return next((listed for known, listed in _PRICES.items() if known in name), None)
