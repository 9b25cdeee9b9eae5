"""The worth of the LLM judge: precision and prompts served, next to the relevance model alone.

Each prompt is asked with its answer in the store and with the answer taken away; prompts that nothing answers are
asked once. Three systems decide what is shown: the relevance model alone, that model and the
judge, and a judge that is never wrong about the same candidates, which is the most any model could reach.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import data, life_sets, page, results
from bench.data import Prompt, Set
from bench.shares import wilson
from bench.stage import Stage
from bench.verdicts import Meter, Recorder, Replay
from onrecord import paths
from onrecord.errors import OnrecordError
from onrecord.recall import judge, judge_api
from onrecord.recall.judge import Ruling
from onrecord.search import query, rank, relevance
from onrecord.search.candidates import Filter
from onrecord.search.rank import Match
from onrecord.settings import Settings, load_settings
from onrecord.text import count_tokens

if TYPE_CHECKING:
    from onrecord.recall.judge import BatchJudge

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "judge.md"


class Asked(NamedTuple):
    """A prompt in a store with or without its answer, and what the search found."""

    run: str
    prompt: Prompt
    found: list[Match]

    @property
    def relevant(self) -> frozenset[str]:
        return self.prompt.relevant if self.run == "present" else frozenset()


class Shown(NamedTuple):
    """What one system showed for one prompt, and what finding out took."""

    asked: Asked
    ids: list[str]
    requests: int = 0
    failures: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sets", nargs="*", help="sets to use (default: our own and the shared data that is there)")
    parser.add_argument("--prompts", type=int, default=40, metavar="N", help="prompts of each set (default: 40)")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--record", type=Path, metavar="FILE", help="ask the configured model and write its verdicts")
    source.add_argument("--replay", type=Path, metavar="FILE", help="use the verdicts in FILE instead of a model")
    source.add_argument("--ask", action="store_true", help="ask the configured model and write nothing")
    parser.add_argument("--certain-in", type=float, metavar="P", help="instead of retrieval.judge.certain_in")
    parser.add_argument("--certain-out", type=float, metavar="P", help="instead of retrieval.judge.certain_out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE as well")
    parser.add_argument("--page", action="store_true", help=f"store the figures, and put them into {PAGE.name}")


def run(options: argparse.Namespace) -> int:
    try:
        return _run(options)
    except OnrecordError as error:
        print(f"{error}\nfix: {error.fix}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    settings = _settings(options)
    ask = _judge(options, settings)
    figures = []
    pooled: dict[str, list[Shown]] = {}
    for name in options.sets or _sets():
        own = life_sets.load(name) if name.startswith("life-") else data.load(name)
        for system, shown in _systems(_sample(own, options.prompts), settings, ask):
            pooled.setdefault(system, []).extend(shown)
            figures.append({"set": name, "system": system, **_figures(shown)})
            print(_row(figures[-1]), flush=True)
    figures += [{"set": "all", "system": name, **_figures(shown)} for name, shown in pooled.items()]
    print("\n" + table(figures))
    if isinstance(ask, Recorder):
        ask.close()
    if ask is None:
        print(
            "\nNo model was asked: --ask asks the configured one, --record keeps its verdicts, --replay uses kept ones."
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    if options.page:
        results.save("judge", {"figures": figures})
        page.put(PAGE, "judge", {"limits": table(figures), "questions": question_size(figures)})
    return 0


def _sets() -> list[str]:
    """Return our own sets and those of other people, real projects first, as far as they are there."""
    life = [*life_sets.CHOOSE, *life_sets.REPORT, *life_sets.FIT]
    there = [
        name for name in life if any((folder / name / "records.jsonl").exists() for folder in (data.OWN, data.SHARED))
    ]
    return [*there, *data.OWN_NAMES, *data.outside()]


def table(figures: Sequence[dict[str, Any]]) -> str:
    """Return the figures of all sets together, as docs/how-to/judge.md has them."""
    lines = ["| | precision | served | false | sent |", "| --- | --- | --- | --- | --- |"]
    for each in figures:
        if each["set"] == "all":
            shares = [_with_interval(each[name], each["of"][name]) for name in ("precision", "served", "false")]
            lines.append(f"| {each['system']} | {' | '.join(shares)} | {each['sent']:.2f} |")
    return "\n".join(lines)


def question_size(figures: Sequence[dict[str, Any]]) -> str:
    """Return the requests for a prompt that the judge is asked about, and the tokens of one, as the page has them."""
    (asked,) = (each for each in figures if each["set"] == "all" and each["system"] == "perfect judge")
    requests, prompts = asked["requests"], round(asked["sent"] * asked["prompts"])
    lines = (
        "| | |",
        "| --- | --- |",
        f"| prompts that the judge is asked about, out of 100 | {100 * asked['sent']:.0f} |",
        f"| requests for one of them | {requests / prompts:.2f} |",
        f"| tokens of a request, mean | {asked['tokens_in'] / requests:,.0f} |",
    )
    return "\n".join(lines)


def _with_interval(share: float, of: int) -> str:
    low, high = wilson(round(share * of), of)
    return f"{share:.2f} ({low:.2f}–{high:.2f})"


def _settings(options: argparse.Namespace) -> Settings:
    settings = load_settings(paths.user_store())
    thresholds = {"certain_in": options.certain_in, "certain_out": options.certain_out}
    settings.take(
        "bench", True, {f"retrieval.judge.{key}": value for key, value in thresholds.items() if value is not None}
    )
    return settings


def _judge(options: argparse.Namespace, settings: Settings) -> BatchJudge | None:
    """Return the judge that the options name; None if they name none."""
    if options.replay:
        return Replay(options.replay)
    if not options.ask and not options.record:
        return None
    model = judge_api.configured_model(settings)
    ask = judge.batch_judge(model)
    return Recorder(ask, options.record, model.name) if options.record else ask


def _sample(own: Set, most: int) -> Set:
    rng = random.Random(own.name)
    prompts = own.prompts if len(own.prompts) <= most else tuple(rng.sample(own.prompts, most))
    return own._replace(prompts=prompts)


def _systems(own: Set, settings: Settings, ask: BatchJudge | None) -> Iterator[tuple[str, list[Shown]]]:
    with Stage(own.records) as stage:
        questions = list(_asked(stage, own, settings))
    yield "relevance model alone", [Shown(one, _cut(one.found, relevance.THRESHOLD, settings)) for one in questions]
    if ask is not None:
        yield "relevance model + judge", [_shown(one, settings, ask) for one in questions]
    yield "perfect judge", [_shown(one, settings, _perfect(one)) for one in questions]


def _asked(stage: Stage, own: Set, settings: Settings) -> Iterator[Asked]:
    for prompt in own.prompts:
        yield Asked("present" if prompt.relevant else "none", prompt, _found(stage, prompt, settings))
        if prompt.relevant:
            with stage.without(prompt.relevant):
                yield Asked("removed", prompt, _found(stage, prompt, settings))


def _found(stage: Stage, prompt: Prompt, settings: Settings) -> list[Match]:
    limit = settings.count("retrieval.judge.max_candidates")
    return rank.find(stage.index, query.parse_prompt(prompt.text), Filter("auto", settings=settings), limit)


def _cut(matches: Sequence[Match], threshold: float, settings: Settings) -> list[str]:
    return [match.id for match in matches if match.probability >= threshold][: settings.count("retrieval.max_inject")]


def _shown(asked: Asked, settings: Settings, ask: BatchJudge) -> Shown:
    meter = Meter(ask)
    turns = [f"User: {turn}" for turn in asked.prompt.turns]
    opinion = judge.form_opinion(asked.prompt.text, asked.found, turns, settings, judge_batch=meter)
    matches = [
        match
        for match, verdict in zip(asked.found, opinion.verdicts)
        if (match.probability >= relevance.THRESHOLD if verdict is None else verdict)
    ]
    return Shown(
        asked,
        _cut(matches, 0.0, settings),
        opinion.requests,
        len(opinion.failures),
        opinion.tokens_in,
        opinion.tokens_out,
        max((ruling.seconds for ruling in meter.rulings), default=0.0),
    )


def _perfect(asked: Asked) -> BatchJudge:
    def ask(prompt: str, batch: Sequence[Match], turns: Sequence[str], deadline: float) -> Ruling:
        tokens = count_tokens(judge.SYSTEM_PROMPT) + count_tokens(judge.render_question(prompt, batch, turns))
        return Ruling([at for at, candidate in enumerate(batch) if candidate.id in asked.relevant], tokens)

    return ask


def _figures(shown: list[Shown]) -> dict[str, Any]:
    """Return the precision of what was shown, and the shares of prompts that got an answer or something wrong."""
    present = [one for one in shown if one.asked.run == "present"]
    silent = [one for one in shown if one.asked.run != "present"]
    right = sum(len(set(one.ids) & one.asked.relevant) for one in shown)
    records_shown = sum(len(one.ids) for one in shown)
    sent = [one for one in shown if one.requests]
    tokens_in, tokens_out = sum(one.tokens_in for one in shown), sum(one.tokens_out for one in shown)
    return {
        "prompts": len(shown),
        "precision": right / records_shown if records_shown else 1.0,
        "served": _share(present, lambda one: bool(set(one.ids) & one.asked.relevant)),
        "false": _share(silent, lambda one: bool(one.ids)),
        "of": {"precision": records_shown, "served": len(present), "false": len(silent)},
        "sent": len(sent) / len(shown) if shown else 0.0,
        "requests": sum(one.requests for one in shown),
        "failures": sum(one.failures for one in shown),
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "seconds": median(one.seconds for one in sent) if sent else 0.0,
    }


def _share(shown: list[Shown], test: Callable[[Shown], bool]) -> float:
    return sum(map(test, shown)) / len(shown) if shown else 0.0


def _row(figures: dict[str, Any]) -> str:
    parts = [f"{figures['set']:10} {figures['system']:23}"]
    parts += [f"{name} {figures[name]:.3f}" for name in ("precision", "served", "false", "sent")]
    if figures["tokens_in"]:
        parts.append(f"{figures['requests']} requests, {figures['failures']} failed, {figures['seconds']:.2f} s")
    return "  ".join(parts)
