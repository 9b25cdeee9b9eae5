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
    """The teacher's pieces that our words can be made of, and the most frequent whole words it cuts up.

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


def train(
    corpus: Corpus, teacher: Teacher, *, dims: int, epochs: int, pair_weight: float, foreign_weight: float
) -> tuple[Student, dict[str, Any]]:
    torch.manual_seed(SEED)
    rng = numpy.random.default_rng(SEED)
    target = teacher.vectors(corpus.sentences).to(DEVICE)
    centred = target[:200_000] - target[:200_000].mean(0)
    axes = torch.linalg.eigh(centred.T @ centred)[1].flip(1)[:, :dims]
    target = functional.normalize(target @ axes, dim=1)
    subjects, bodies = ([pair[side] for pair in corpus.pairs] for side in (0, 1))
    goal = [functional.normalize(teacher.vectors(side).to(DEVICE) @ axes, dim=1) for side in (subjects, bodies)]
    start = functional.normalize(
        teacher.vectors([token.removeprefix("##") for token in corpus.tokens]).to(DEVICE) @ axes, dim=1
    )
    share = corpus.counts / corpus.counts.sum()
    rarity = torch.tensor(1e-3 / (1e-3 + share), dtype=torch.float32, device=DEVICE)
    student = Student(start * rarity[:, None]).to(DEVICE)
    texts, first, second = corpus.pack(corpus.sentences), corpus.pack(subjects), corpus.pack(bodies)
    foreign = corpus.pack([pair[0] for pair in corpus.translations])
    english = functional.normalize(teacher.vectors([pair[1] for pair in corpus.translations]).to(DEVICE) @ axes, dim=1)
    size, rate = 4_096, 3e-3
    optimizer = torch.optim.Adam(student.parameters(), lr=rate)
    steps = epochs * (len(texts) // size)
    history = []
    for step in range(steps):
        if step % (len(texts) // size) == 0:
            order = rng.permutation(len(texts))
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - step / steps)
        at = step % (len(texts) // size) * size
        chosen = order[at : at + size]
        guess, truth = student(_batch(texts, chosen)), target[chosen]
        cosine = (guess * truth).sum(1).mean()
        loss = 1 - cosine + 50 * ((guess @ guess.T - truth @ truth.T) ** 2).mean()
        if step % 2:
            some = rng.integers(0, len(first), 1_024)
            scores = student(_batch(first, some)) @ student(_batch(second, some)).T / 0.05
            wanted = goal[0][some] @ goal[1][some].T / 0.05
            exact = functional.cross_entropy(scores, torch.arange(len(some), device=DEVICE))
            soft = functional.kl_div(
                functional.log_softmax(scores, 1), functional.softmax(wanted, 1), reduction="batchmean"
            )
            loss = loss + pair_weight * (exact / 2 + soft)
        else:
            some = rng.integers(0, len(foreign), 2_048)
            loss = loss + foreign_weight * (1 - (student(_batch(foreign, some)) * english[some]).sum(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % (len(texts) // size) == 0:
            history.append(round(float(cosine), 4))
            print(f"epoch {len(history)}: cosine to the teacher {history[-1]}", flush=True)
    with torch.no_grad():
        some = range(min(len(foreign), 20_000))
        abroad = float((student(_batch(foreign, some)) * english[: len(some)]).sum(1).mean())
    facts = {"dims": dims, "epochs": epochs, "pair_weight": pair_weight, "foreign_weight": foreign_weight}
    sizes = {"tokens": len(corpus.tokens), "sentences": len(texts), "pairs": len(first), "translations": len(foreign)}
    return student, {**facts, **sizes, "cosine": history, "cosine of translations": round(abroad, 4)}


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
    corpus, teacher = Corpus(args.work), Teacher(args.work)
    print(f"{len(corpus.sentences)} sentences, {len(corpus.pairs)} pairs, {len(corpus.tokens)} tokens", flush=True)
    student, facts = train(
        corpus,
        teacher,
        dims=args.dims,
        epochs=args.epochs,
        pair_weight=args.pair_weight,
        foreign_weight=args.foreign_weight,
    )
    vectors = student.bag.weight.detach().float().cpu().numpy()
    # The axes of most variance first, so that the first values alone are a coarse vector.
    vectors = vectors @ numpy.linalg.svd(vectors, full_matrices=False)[2].T
    table.write(args.out / f"{args.name}.vec", corpus.tokens, vectors[:, : table.DIMS])
    facts["seconds"] = round(time.time() - began)
    (args.out / f"{args.name}.json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
