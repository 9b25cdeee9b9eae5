"""The texts the table is trained on: commit messages, documentation and translations of public repositories, and
the definitions of a dictionary.

    python -m bench.vectors.corpus REPOSITORIES WORDNET OUT

REPOSITORIES holds a git directory for each repository of `corpus.json`, as `owner/name` or `owner+name/repo`, with the
commit named there. None of them is a project that we measure with. WORDNET is the folder with `data.noun` and the like
(Debian's package wordnet-base). OUT gets `sentences.txt.gz`, `pairs.jsonl.gz` and `parallel.jsonl.gz`.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from bench.vectors import parallel

SENTENCES, PAIRS, PARALLEL = 25_000, 9_000, 30_000
"""Of each repository: enough that none outweighs the others, and that training takes minutes."""

DEFINITIONS = 60_000
"""Of the dictionary: for the words that people use who do not know the term."""

_LONGEST = 320
_TRAILER = re.compile(
    r"^(?:[A-Z][\w-]+-by|Change-Id|Fixes|Closes|See|Ref|Discussion|Backpatch\S*|PR\S*|Link|Cc):.*", re.I
)
_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*])")
_MARKUP = re.compile(r"<[^>]{1,200}>|\]\([^)]{1,300}\)|^[#>*\-+|=~\s.:]+|[*_|\[\]]|`{2,}")
_HEADING = re.compile(r"^#{1,4}\s+(.+?)\s*#*$")
_LETTERS = re.compile(r"[A-Za-z]{2,}")


def main(repositories: str, wordnet: str, out: str) -> None:
    chosen = json.loads((Path(__file__).parent / "corpus.json").read_text("utf-8"))
    rng = Random(20_261_116)
    sentences = rng.sample(sorted(_definitions(Path(wordnet))), DEFINITIONS)
    pairs: list[tuple[str, str]] = []
    for name, commit in chosen["texts"].items():
        git = ["git", "-C", str(git_dir(Path(repositories), name))]
        messages = list(_messages(git, commit))
        sections = list(_sections(git, commit))
        both = [*_of_messages(messages), *_of_sections(sections)]
        split = sorted({text for pair in both for text in _sentences(pair)})
        sentences += rng.sample(split, min(SENTENCES, len(split)))
        unique = sorted(set(both))
        pairs += rng.sample(unique, min(PAIRS, len(unique)))
        print(f"{name}: {len(split)} sentences, {len(unique)} pairs")
    translated: list[tuple[str, str]] = []
    for name, commit in chosen["translations"].items():
        git = ["git", "-C", str(git_dir(Path(repositories), name))]
        is_translation = name.endswith(("-de", "-es"))
        texts = _translations(git, commit, is_translation=is_translation)
        usable = sorted({pair for pair in texts if parallel.is_useful(pair)})
        translated += rng.sample(usable, min(PARALLEL, len(usable)))
        print(f"{name}: {len(usable)} translations")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "sentences.txt.gz", sentences)
    for name, rows in (("pairs", pairs), ("parallel", translated)):
        _write(folder / f"{name}.jsonl.gz", [json.dumps(row, ensure_ascii=False) for row in rows])


def git_dir(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / name.replace("/", "+") / "repo"):
        if path.is_dir():
            return path
    raise SystemExit(f"{folder} has no {name}: clone it there first")


def _run(git: list[str], *arguments: str, stdin: bytes = b"") -> bytes:
    return subprocess.run([*git, *arguments], input=stdin, stdout=subprocess.PIPE, check=True).stdout


def _messages(git: list[str], commit: str) -> Iterator[str]:
    output = _run(git, "log", "--no-merges", "-n", "60000", "--format=%B%x00", commit)
    for message in output.decode("utf-8", "replace").split("\0"):
        yield message.strip()


def _sections(git: list[str], commit: str) -> Iterator[tuple[str, str]]:
    """Yield heading and first paragraph of the sections of Markdown pages."""
    pages = [name for name in names(git, commit) if name.endswith((".md", ".mdx"))][:4_000]
    for page in pages:
        text = _run(git, "show", f"{commit}:{page}")[:200_000].decode("utf-8", "replace")
        heading = ""
        for paragraph in re.split(r"\n\s*\n", text):
            match = _HEADING.match(paragraph.strip().splitlines()[0] if paragraph.strip() else "")
            if match:
                heading = match[1]
            elif heading and not paragraph.lstrip().startswith(("```", "|", "<", "    ")):
                yield heading, paragraph
                heading = ""


def _translations(git: list[str], commit: str, *, is_translation: bool) -> Iterator[tuple[str, str]]:
    return parallel.pairs(names(git, commit), shower(git, commit), is_translation=is_translation)


def names(git: list[str], commit: str) -> list[str]:
    """Return the names of all files of a commit."""
    return _run(git, "ls-tree", "-r", "--name-only", commit).decode("utf-8", "replace").splitlines()


def shower(git: list[str], commit: str) -> parallel.Show:
    """Return how a file of a commit is read."""
    return lambda name: _text(git, f"{commit}:{name}")


def _text(git: list[str], name: str) -> str:
    """Return a file, or nothing where a snapshot was stored without its largest files."""
    shown = subprocess.run([*git, "show", name], capture_output=True, check=False)
    return "" if shown.returncode else shown.stdout.decode("utf-8", "replace")


def _definitions(wordnet: Path) -> set[str]:
    """Return each sense of the dictionary as one line: its words, and what they mean."""
    out = set()
    for kind in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{kind}").read_text("utf-8").splitlines():
            facts, bar, meaning = line.partition(" | ")
            if bar and not line.startswith(" "):
                parts = facts.split()
                words = [parts[4 + 2 * number].replace("_", " ") for number in range(int(parts[3], 16))]
                sense = meaning.partition('; "')[0].strip()
                out.add(f"{', '.join(words)}: {sense}"[:_LONGEST])
    return out


def _of_messages(messages: list[str]) -> Iterator[tuple[str, str]]:
    for message in messages:
        subject, _, body = message.partition("\n")
        lines = [line for line in body.splitlines() if not _TRAILER.match(line.strip())]
        yield _plain(subject), _plain(" ".join(lines))


def _of_sections(sections: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for heading, paragraph in sections:
        yield _plain(heading), _plain(paragraph)


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split())[:500]


def _sentences(pair: tuple[str, str]) -> Iterator[str]:
    subject, body = pair
    for text in (subject, *_SPLIT.split(body)[:6]):
        if len(_LETTERS.findall(text)) >= 3 and len(text) <= _LONGEST and text.isascii():
            yield text


def _write(path: Path, lines: list[str]) -> None:
    # No time of writing in the file: the same corpus gives the same bytes.
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.write("\n".join(lines).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
