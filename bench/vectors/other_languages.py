"""The texts that the table learns other languages from: translations that public repositories carry.

    python -m bench.vectors.other_languages REPOSITORIES OUT

REPOSITORIES holds a git directory for each repository under "languages" of `corpus.json`, as `bench.vectors.corpus`
wants them. OUT gets `languages.jsonl.gz`: a language, the text in it and the English original, as JSON lines.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from random import Random

from bench.vectors import corpus, parallel

CODES = {
    "ar": ("ar",),
    "de": ("de", "de-DE"),
    "es": ("es", "es-ES"),
    "fr": ("fr", "fr-FR"),
    "it": ("it", "it-IT"),
    "ja": ("ja", "ja-JP"),
    "ko": ("ko", "ko-KR"),
    "nl": ("nl", "nl-NL"),
    "pl": ("pl", "pl-PL"),
    "pt": ("pt_BR", "pt-BR", "pt-br", "pt-PT", "pt_PT", "pt"),
    "ru": ("ru", "ru-RU"),
    "tr": ("tr", "tr-TR"),
    "zh": ("zh_Hans", "zh-CN", "zh_CN", "zh-cn", "zh-hans"),
}
"""The languages of the teacher that the repositories have, as their files name them."""

_SHORTEST, _LONGEST = 2, 400
_WORD = re.compile(r"[A-Za-z]{3}")

MOST = 4_000
"""Of each language and repository."""


def main(repositories: str, out: str) -> None:
    chosen = json.loads((Path(__file__).parent / "corpus.json").read_text("utf-8"))["languages"]
    rng = Random(20_261_118)
    lines: list[str] = []
    for name, commit in chosen.items():
        git = ["git", "-C", str(corpus.git_dir(Path(repositories), name))]
        names = corpus.names(git, commit)
        for language, codes in CODES.items():
            is_translation = any(name.endswith(f"python-docs-{code}") for code in codes)
            texts = parallel.pairs(names, corpus.shower(git, commit), is_translation=is_translation, codes=codes)
            usable = sorted({pair for pair in texts if _is_useful(pair)})
            some = rng.sample(usable, min(MOST, len(usable)))
            lines += [json.dumps([language, *pair], ensure_ascii=False) for pair in some]
            print(f"{name}, {language}: {len(usable)} translations", flush=True)
    Path(out).mkdir(parents=True, exist_ok=True)
    with open(Path(out) / "languages.jsonl.gz", "wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.write("\n".join(lines).encode())


def _is_useful(pair: tuple[str, str]) -> bool:
    """True if both are texts; single words count, too: they are entries of a dictionary."""
    foreign, english = pair
    return foreign != english and len(foreign) >= _SHORTEST and bool(_WORD.search(english)) and len(english) <= _LONGEST


if __name__ == "__main__":
    main(*sys.argv[1:])
