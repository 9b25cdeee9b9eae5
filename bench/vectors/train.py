"""Train the table of word vectors: a bag of words that gives the vectors a sentence transformer gives.

    python -m bench.vectors.train WORK OUT [--dims 128] [--epochs 12]

WORK holds `sentences.txt.gz`, `pairs.jsonl.gz` and `parallel.jsonl.gz` (`bench.vectors.corpus`), and of the teacher
all-MiniLM-L6-v2 `teacher.safetensors`, `config.json`, `tokenizer.json` and `vocab.txt` (`bench.vectors.teacher`). Needs
torch, transformers and tokenizers, and a GPU to take minutes instead of hours. OUT gets `words.vec` and `words.json`.

The student starts from the teacher's vector of each token, on the axes of most variance, weighed by rarity. The loss is
the distance from the teacher's vector of each sentence, the difference of all similarities within a batch, and for
(subject, text) pairs the likelihood of the right text among the batch's. For a translation it is the distance from the
teacher's vector of the English text.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import torch
from torch.nn import functional

from bench.vectors import table
from bench.vectors.teacher import weights

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MOST_TOKENS = 44_000
"""With 128 values, a scale and a hash each, a table of just under 6 MB."""

SEED = 7
BATCH = 4_096
Tensor = Any


class Student(torch.nn.Module):
    """One vector for each token; a text is their sum, at length 1."""

    def __init__(self, start: Tensor) -> None:
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(start.shape[0], start.shape[1], mode="sum", _weight=start.clone())

    def forward(self, packed: tuple[Tensor, Tensor]) -> Tensor:
        ids, offsets = packed
        return functional.normalize(self.bag(ids.to(DEVICE), offsets.to(DEVICE)), dim=1)


class Teacher:
    """The sentence transformer whose similarities the table learns."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer
        from transformers import BertConfig, BertModel

        settings = json.loads((folder / "config.json").read_text("utf-8"))
        known = {key: value for key, value in settings.items() if key in BertConfig().to_dict()}
        self._model = BertModel(BertConfig(**known), add_pooling_layer=False)
        self._model.load_state_dict(weights(folder), strict=False)
        self._model = self._model.to(DEVICE).half().eval() if DEVICE == "cuda" else self._model.eval()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(128)
        self._tokenizer.no_padding()

    @torch.no_grad()
    def vectors(self, texts: list[str], batch: int = 2_048) -> Tensor:
        out = torch.zeros(len(texts), 384)
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            encoded = [item.ids for item in self._tokenizer.encode_batch([texts[number] for number in chosen])]
            ids = torch.zeros(len(chosen), max(map(len, encoded)), dtype=torch.long)
            for row, tokens in enumerate(encoded):
                ids[row, : len(tokens)] = torch.tensor(tokens)
            mask = (ids > 0).to(DEVICE)
            hidden = self._model(input_ids=ids.to(DEVICE), attention_mask=mask.long()).last_hidden_state.float()
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            out[chosen] = functional.normalize(mean, dim=1).cpu()
        return out


class Corpus:
    """Sentences and pairs as token numbers, with the vocabulary they were cut up by."""

    def __init__(self, folder: Path) -> None:
        self.sentences = _lines(folder / "sentences.txt.gz")
        pairs = map(json.loads, _lines(folder / "pairs.jsonl.gz"))
        self.pairs = [pair for pair in pairs if len(pair[0]) > 8 and len(pair[1]) > 40]
        self.translations = [tuple(json.loads(line)) for line in _lines(folder / "parallel.jsonl.gz")]
        pieces = (folder / "vocab.txt").read_text("utf-8").split("\n")
        texts = [*self.sentences, *(foreign for foreign, _ in self.translations)]
        counts = Counter(word for text in texts for word in table.words(text))
        self.tokens = _vocabulary(pieces, counts)
        self.number = {token: number for number, token in enumerate(self.tokens)}
        self.counts = numpy.array([counts.get(token.removeprefix("##"), 0) + 1 for token in self.tokens], float)

    def pack(self, texts: list[str]) -> list[Tensor]:
        return [torch.tensor(table.token_numbers(text, self.number) or [0]) for text in texts]


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")


def _vocabulary(pieces: list[str], counts: Counter[str]) -> list[str]:
    """Return the teacher's pieces that our words can be made of, and the most frequent whole words it cuts up.

    Of its whole words, those that the corpus has; of the pieces, all: they are what unknown words are made of.
    """
    usable = [p for p in pieces if p.isascii() and table.is_token(p.removeprefix("##"))]
    usable = [piece for piece in usable if piece.startswith("##") or counts[piece] or len(piece) == 1]
    have = set(usable)
    words = [
        word
        for word, count in counts.most_common()
        if word not in have and count >= 4 and 2 < len(word) < 25 and word.isascii() and not word.isdigit()
    ]
    return usable + words[: MOST_TOKENS - len(usable)]


def _batch(texts: list[Tensor], chosen: Any) -> tuple[Tensor, Tensor]:
    picked = [texts[number] for number in chosen]
    offsets = numpy.cumsum([0, *(len(text) for text in picked[:-1])])
    return torch.cat(picked), torch.tensor(offsets)


class Training:
    """The student, and what the teacher says of the texts that it learns from."""

    def __init__(self, corpus: Corpus, teacher: Teacher, dims: int) -> None:
        torch.manual_seed(SEED)
        self._rng = numpy.random.default_rng(SEED)
        vectors = teacher.vectors(corpus.sentences).to(DEVICE)
        centred = vectors[:200_000] - vectors[:200_000].mean(0)
        self._axes = torch.linalg.eigh(centred.T @ centred)[1].flip(1)[:, :dims]
        self.texts, self._truth = corpus.pack(corpus.sentences), self._on_axes(vectors)
        self._subjects, self._wanted_subjects = self._taught(corpus, teacher, [pair[0] for pair in corpus.pairs])
        self._bodies, self._wanted_bodies = self._taught(corpus, teacher, [pair[1] for pair in corpus.pairs])
        self._foreign = corpus.pack([foreign for foreign, _ in corpus.translations])
        self._english = self._on_axes(teacher.vectors([english for _, english in corpus.translations]).to(DEVICE))
        start = self._on_axes(teacher.vectors([token.removeprefix("##") for token in corpus.tokens]).to(DEVICE))
        share = corpus.counts / corpus.counts.sum()
        # The usual weight of rare words, from "A simple but tough-to-beat baseline for sentence embeddings".
        rarity = torch.tensor(1e-3 / (1e-3 + share), dtype=torch.float32, device=DEVICE)
        self.student = Student(start * rarity[:, None]).to(DEVICE)

    def _on_axes(self, vectors: Tensor) -> Tensor:
        return functional.normalize(vectors @ self._axes, dim=1)

    def _taught(self, corpus: Corpus, teacher: Teacher, texts: list[str]) -> tuple[list[Tensor], Tensor]:
        return corpus.pack(texts), self._on_axes(teacher.vectors(texts).to(DEVICE))

    def run(self, epochs: int, pair_weight: float, foreign_weight: float) -> list[float]:
        """Train, and return the cosine to the teacher after each epoch."""
        rate, in_epoch = 3e-3, len(self.texts) // BATCH
        optimizer = torch.optim.Adam(self.student.parameters(), lr=rate)
        history: list[float] = []
        for step in range(epochs * in_epoch):
            if step % in_epoch == 0:
                order = self._rng.permutation(len(self.texts))
            for group in optimizer.param_groups:
                group["lr"] = rate * (1 - step / (epochs * in_epoch))
            at = step % in_epoch * BATCH
            cosine, loss = self._sentences(order[at : at + BATCH])
            # Pairs and translations take turns, which halves their cost.
            loss = loss + (pair_weight * self._pairs() if step % 2 else foreign_weight * self._translations())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if (step + 1) % in_epoch == 0:
                history.append(round(float(cosine.detach()), 4))
                print(f"epoch {len(history)}: cosine to the teacher {history[-1]}", flush=True)
        return history

    def _sentences(self, chosen: Any) -> tuple[Tensor, Tensor]:
        guess, truth = self.student(_batch(self.texts, chosen)), self._truth[chosen]
        cosine = (guess * truth).sum(1).mean()
        # Squared differences of cosines are small: 50 makes them count as much as the distance itself.
        return cosine, 1 - cosine + 50 * ((guess @ guess.T - truth @ truth.T) ** 2).mean()

    def _pairs(self) -> Tensor:
        some, sharpness = self._rng.integers(0, len(self._subjects), 1_024), 20
        scores = self.student(_batch(self._subjects, some)) @ self.student(_batch(self._bodies, some)).T
        wanted = self._wanted_subjects[some] @ self._wanted_bodies[some].T
        exact = functional.cross_entropy(scores * sharpness, torch.arange(len(some), device=DEVICE))
        logs, shares = functional.log_softmax(scores * sharpness, 1), functional.softmax(wanted * sharpness, 1)
        return exact / 2 + functional.kl_div(logs, shares, reduction="batchmean")

    def _translations(self) -> Tensor:
        some = self._rng.integers(0, len(self._foreign), 2_048)
        return 1 - (self.student(_batch(self._foreign, some)) * self._english[some]).sum(1).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--pair-weight", type=float, default=0.3)
    parser.add_argument("--foreign-weight", type=float, default=1.0)
    parser.add_argument("--name", default="words")
    args = parser.parse_args()
    began = time.time()
    corpus = Corpus(args.work)
    print(f"{len(corpus.sentences)} sentences, {len(corpus.pairs)} pairs, {len(corpus.tokens)} tokens", flush=True)
    training = Training(corpus, Teacher(args.work), args.dims)
    cosines = training.run(args.epochs, args.pair_weight, args.foreign_weight)
    vectors = training.student.bag.weight.detach().float().cpu().numpy()
    # The axes of most variance first, so that the first values alone are a coarse vector.
    vectors = vectors @ numpy.linalg.svd(vectors, full_matrices=False)[2].T
    table.write(args.out / f"{args.name}.vec", corpus.tokens, vectors[:, : table.DIMS])
    facts = {
        "dims": args.dims,
        "epochs": args.epochs,
        "pair_weight": args.pair_weight,
        "foreign_weight": args.foreign_weight,
        "tokens": len(corpus.tokens),
        "sentences": len(corpus.sentences),
        "pairs": len(corpus.pairs),
        "translations": len(corpus.translations),
        "cosine": cosines,
        "seconds": round(time.time() - began),
    }
    (args.out / f"{args.name}.json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
