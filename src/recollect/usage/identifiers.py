"""Shapes: what makes a word a name from code rather than a word of a language."""

from __future__ import annotations

_LONGEST = 120
_EXTENSIONS = frozenset(
    "py js ts tsx jsx json yaml yml toml md txt sql sh rs go java rb c h cpp cs php html css scss lock cfg ini env xml"
    " csv proto tf kt swift vue svelte ipynb prisma mod sum log".split()
)
_EVERYDAY = frozenset(
    "javascript typescript postgresql mysql graphql github gitlab devops macos ios iphone ipad openapi oauth2 oauth"
    " node.js next.js vue.js nuxt.js three.js d3.js express.js asp.net utf8 utf-8 utf-16 sha256 sha-256 sha1 md5 base64"
    " s3 ec2 k8s i18n l10n a11y http2 http/2 http/1.1 ipv4 ipv6 x86 x86_64 arm64 python2 python3 es6 web3 mp3 mp4 h264"
    " iso-8601 iso8601 created_at updated_at deleted_at node_modules __init__ __main__ __init__.py snake_case camelcase"
    " pascalcase readme.md package.json package-lock.json e.g i.e a.k.a and/or i/o n/a ci/cd tcp/ip either/or yes/no"
    " read/write pass/fail on/off in/out client/server json/yaml youtube linkedin paypal wordpress stackoverflow"
    " localhost jetbrains powershell sqlite mongodb dynamodb redis nginx id_rsa --help --version --verbose --json"
    " --all --force main.py app.py index.js index.ts index.html main.go setup.py kib mib gib tib eur usd".split()
)
"""What looks like a name from code and is said everywhere."""

_LINKS = frozenset("to of the by and in on a or per as is out up down over end off no non self one two".split())
"""Parts that make a compound one of the language."""


def weight(word: str, *, in_code: bool = False) -> float:
    """1 for a name that hardly occurs by chance, 0.5 for one that might, 0 for a word; code in backticks is told."""
    lower = word.lower()
    if not 3 <= len(word) <= _LONGEST or lower in _EVERYDAY or not any(char.isalpha() for char in word):
        return _version(word)
    for test in (_flag, _assignment, _call, _path, _dotted, _snake, _mixed):
        found = test(word)
        if found is not None:
            return (1.0 if "-" in word else max(found, 0.5)) if in_code else found
    return (1.0 if "-" in word else 0.5) if in_code else 0.0


def _flag(word: str) -> float | None:
    if not word.startswith("-"):
        return None
    name = word.lstrip("-")
    if not word.startswith("--") or len(name) < 3:
        return 0.0
    return 1.0 if "-" in name or "=" in name else 0.5


def _assignment(word: str) -> float | None:
    name, equals, value = word.partition("=")
    if not equals or word.startswith(("=", "<", ">", "!")):
        return None
    return 1.0 if len(name) >= 3 and value and value[0] != "=" else 0.0


def _call(word: str) -> float | None:
    if not word.endswith("()"):
        return None
    name = word[:-2]
    return 0.0 if len(name) < 3 else 1.0 if weight(name) else 0.5


def _path(word: str) -> float | None:
    if "/" not in word.rstrip("/") and not (word.endswith("/") and len(word) > 3):
        return None
    parts = [part for part in word.split("/") if part]
    if word.startswith(("/", "~/", "./", "../", "@")) or "://" in word:
        return 1.0 if len(parts) > 1 else 0.5
    if "." in parts[-1].strip(".") and len(parts) > 1:
        return 1.0
    if any(weight(part) == 1.0 for part in parts) or ("*" in word and len(parts) > 1):
        return 1.0
    # `red/green/blue` is prose; `src/auth/session` looks the same.
    return 0.5 if len(parts) > 2 or word.endswith("/") else 0.0


def _dotted(word: str) -> float | None:
    parts = word.strip(".").split(".")
    if len(parts) < 2 or ":" in word:
        return None
    if not all(parts) or max(map(len, parts)) < 2 or not all(_is_name(part) for part in parts):
        return 0.0
    if len(parts) == 2 and parts[0].isalpha() and parts[0].islower() and parts[1].istitle() and parts[1].isalpha():
        # A sentence that ends without a space after it.
        return 0.0
    if len(parts) == 2 and parts[1].lower() in _EXTENSIONS:
        return 1.0 if weight(parts[0]) == 1.0 else 0.5
    return 1.0


def _is_name(part: str) -> bool:
    return all(char.isalnum() or char in "_-$*[]()" for char in part)


def _snake(word: str) -> float | None:
    name = word.strip("_$@{}%")
    if "_" not in name:
        return None
    if not all(char.isalnum() or char in "_-:$" for char in name):
        return 0.0
    return 1.0 if len(name) > 8 or name.isupper() else 0.5


def _mixed(word: str) -> float | None:
    """Letters with digits, inner capitals, `Foo::bar`, `redis:7-alpine`, `ERR-1042`."""
    if "::" in word or "->" in word.strip("->"):
        return 1.0 if word.replace("::", "").replace("->", "").isalnum() else 0.0
    digits = any(char.isdigit() for char in word)
    if ":" in word.strip(":"):
        return 1.0 if digits and not word[0].isdigit() else 0.0
    if digits and "-" in word and word[0].isupper() and word.replace("-", "").isalnum():
        return 1.0 if word.isupper() else 0.5
    if digits and word[0].isalpha() and word.replace("-", "").isalnum() and len(word) > 3:
        return 0.5
    inner = any(a.islower() and b.isupper() for a, b in zip(word, word[1:]))
    return 0.5 if (inner and word.isalnum()) or _is_compound(word) else None


def _is_compound(word: str) -> bool:
    """`acme-uploads-eu`, but not `state-of-the-art`."""
    parts = word.split("-")
    return len(parts) > 2 and word.islower() and all(parts) and _LINKS.isdisjoint(parts)


def _version(word: str) -> float:
    """A version is telling when it has three parts."""
    parts = word.lstrip("vV").split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts):
        return 0.0
    return 1.0 if len(parts) == 3 else 0.0
