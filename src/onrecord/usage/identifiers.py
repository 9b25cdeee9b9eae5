"""What of a text is a name from code rather than a word of a language: paths, flags, settings, values with units.

Two texts that share an English word have nothing to do with each other; two that share `max.poll.interval.ms` or
14 days do. Imported at every Stop that has something to judge: no regular expressions here.
"""

from __future__ import annotations

from onrecord.coldstart import NamedTuple
from onrecord.usage import quantities
from onrecord.usage.quantities import Quantity, occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 120
_LONGEST_TEXT = 4_000
_LONGEST_CODE = 100
_MOST_LITERALS = 12
_SHORTEST_RESPELT = 8  # a shorter name is spelt by chance
_OPENING = "([{<\"'“‘«*"
_CLOSING = ".,;:!?)]}>\"'”’»*…"
_SEPARATORS = str.maketrans("=,;()[]{}<>:|`&", " " * 15, "\"'")
_NEGATIONS = frozenset("not never avoid without don't doesn't can't cannot isn't no nicht nie kein keine ohne".split())
# "not more than 5" names what to do.
_LIMITS = frozenset("more longer less later fewer larger exceed only just mehr nur".split())
_EXTENSIONS = frozenset(
    "py js ts tsx jsx json yaml yml toml md txt sql sh rs go java rb c h cpp cs php html css scss lock cfg ini env xml"
    " csv proto tf kt swift vue svelte ipynb prisma mod sum log".split()
)
# What looks like a name from code and occurs everywhere.
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
# Parts that make a compound a word of the language.
_LINKS = frozenset("to of the by and in on a or per as is out up down over end off no non self one two".split())


class Literal(NamedTuple):
    """Something a text says that is not ordinary language: a name from code, a path, a flag, a value with its unit."""

    text: str
    weight: float  # 1 if finding it elsewhere proves something, 0.5 if it takes another one beside it
    quantity: Quantity | None = None

    def occurs(self, text: str) -> bool:
        """Whether a lower-case text has it as it is written here."""
        return self.quantity.occurs(text) if self.quantity else position(text, self.text) >= 0

    def respelt(self, text: str, spellings: dict[str, str]) -> str:
        """How a lower-case text of code spells it otherwise: `maxPollIntervalMs`, `"auth"."sessions"`."""
        module, _, name = self.text.rpartition(".")
        if module and f"{module} import" in text and position(text, name) >= 0:
            return name
        bare = _squashed(self.text)
        return "" if self.quantity or len(bare) < _SHORTEST_RESPELT else spellings.get(bare, "")


def literals(text: str) -> list[Literal]:
    """The literals a text stands for; not those it warns against, which nobody uses who obeys it."""
    by_text: dict[str, Literal] = {}
    for literal in _every(text[:_LONGEST_TEXT]):
        if literal.text not in by_text or by_text[literal.text].weight < literal.weight:
            by_text[literal.text] = literal
    return sorted(by_text.values(), key=lambda literal: -literal.weight)[:_MOST_LITERALS]


def spellings(text: str) -> dict[str, str]:
    """The longer names in a lower-case text of code, by their letters and digits alone."""
    tokens = (token for token in text.translate(_SEPARATORS).split() if len(token) >= _SHORTEST_RESPELT)
    return {_squashed(token): token for token in tokens if len(token) <= _LONGEST_CODE}


def position(text: str, wanted: str) -> int:
    """Where a text has another as a whole word; -1 if nowhere."""
    for at in occurrences(text, wanted):
        end = at + len(wanted)
        if not (_continues(text[at - 1 : at], wanted[0]) or _continues(text[end : end + 1], wanted[-1])):
            return at
    return -1


def _continues(neighbour: str, edge: str) -> bool:
    return (edge.isalnum() or edge in "-_") and (neighbour.isalnum() or neighbour == ("-" if edge == "-" else "_"))


def _every(text: str) -> Iterator[Literal]:
    """Every literal, prose and code in turn, with the scope of a negation followed through both."""
    pieces = text.split("`")
    scope = _Negation()
    for number, piece in enumerate(pieces):
        if number % 2 and number < len(pieces) - 1:
            if not scope.is_on:
                yield from _in_code(piece)
        else:
            yield from _in_prose(piece, scope)


def _in_code(code: str) -> Iterator[Literal]:
    """A command as far as it is fixed, and the names in it; a name that is all there is counts as one."""
    words = code.split()
    phrase = " ".join(words).split(" <")[0].split(" |")[0].lower()
    if " " in phrase and len(phrase) <= _LONGEST_CODE:
        # `npm test` may be anybody's idea.
        yield Literal(phrase, 0.5 if phrase.replace(" ", "").isalpha() and phrase.count(" ") == 1 else 1.0)
    for word in map(_core, words):
        number = weight(word, in_code=len(words) == 1)
        if number:
            yield Literal(word.lower(), number)


def _in_prose(text: str, scope: _Negation) -> Iterator[Literal]:
    words = text.split()
    cores = [*map(_core, words), ""]
    for at, word in enumerate(words):
        core, following = cores[at], cores[at + 1]
        scope.enter(core.lower(), following.lower())
        quantity = None if scope.is_on else quantities.parse(core, following)
        number = 0.0 if scope.is_on else quantity.weight if quantity else weight(core)
        if number:
            yield Literal(quantity.text if quantity else core.lower(), number, quantity)
        scope.leave(word)


class _Negation:
    """Whether what is being said is what to avoid."""

    def __init__(self) -> None:
        self.is_on = False
        self._is_list = False

    def enter(self, word: str, following: str) -> None:
        if (
            (word in _NEGATIONS and following not in _LIMITS)
            or (word, following) in (("instead", "of"), ("rather", "than"))
            or word in ("replaces", "statt", "anstatt", "formerly")
        ):
            self.is_on = True

    def leave(self, word: str) -> None:
        """A clause ends a negation; a list headed `Avoid:` lasts as long as its sentence."""
        if word == "Avoid:":
            self._is_list = True
        elif word[-1:] in ".!?:…":
            self._is_list = False
        if word[-1:] in ".!?:…,;)":
            self.is_on = self._is_list


def _core(word: str) -> str:
    """A word without the punctuation around it; brackets that belong to it stay."""
    core = word.lstrip(_OPENING)
    while core and core[-1] in _CLOSING and not core.endswith("()"):
        core = core[:-1]
    return core


def _squashed(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def weight(word: str, *, in_code: bool = False) -> float:
    """1 for a name that hardly occurs by chance, 0.5 for one that might, 0 for a word; code in backticks is a name."""
    if not 3 <= len(word) <= _LONGEST or word.lower() in _EVERYDAY or not any(char.isalpha() for char in word):
        # A version of three parts hardly occurs by chance.
        parts = word.lstrip("vV").split(".")
        return 1.0 if len(parts) == 3 and all(part.isdigit() for part in parts) else 0.0
    for test in (_marked, _path, _dotted, _snake, _mixed):
        number = test(word)
        if number is not None:
            return (1.0 if "-" in word else max(number, 0.5)) if in_code else number
    return (1.0 if "-" in word else 0.5) if in_code else 0.0


def _marked(word: str) -> float | None:
    """`--dry-run`, `retries=3`, `flush()`."""
    name, equals, value = word.partition("=")
    if word.startswith("-"):
        flag = word.lstrip("-")
        return 0.0 if not word.startswith("--") or len(flag) < 3 else 1.0 if "-" in flag or equals else 0.5
    if equals and not word.startswith(("=", "<", ">", "!")):
        return 1.0 if len(name) >= 3 and value and value[0] != "=" else 0.0
    if word.endswith("()"):
        return 0.0 if len(word) < 5 else 1.0 if weight(word[:-2]) else 0.5
    return None


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
    if not all(parts) or max(map(len, parts)) < 2 or not all(c.isalnum() or c in "_-$*[]()." for c in word):
        return 0.0
    if len(parts) == 2 and parts[0].isalpha() and parts[0].islower() and parts[1].istitle() and parts[1].isalpha():
        # A sentence that ends without a space after it.
        return 0.0
    if len(parts) == 2 and parts[1].lower() in _EXTENSIONS:
        return 1.0 if weight(parts[0]) == 1.0 else 0.5
    return 1.0


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
    # `acme-uploads-eu`, but not `state-of-the-art`.
    parts = word.split("-")
    is_compound = len(parts) > 2 and word.islower() and all(parts) and _LINKS.isdisjoint(parts)
    return 0.5 if (inner and word.isalnum()) or is_compound else None
