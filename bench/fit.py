"""`python -m bench fit`: fit ranking and relevance model, choose thresholds, and write the coefficients."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from multiprocessing import Pool as Workers
from pathlib import Path

from bench import coefficients_file, data, examples, languages, learn, life_sets, results, tags, thresholds, word_sets
from bench.learn import Model, Part, Ranked
from onrecord.search import word_features

PROJECTS = (*life_sets.FIT, *life_sets.CHOOSE)
TECHNICAL = ("eslint", "peps", "ruff", "runbooks")
_INVENTED = tuple(name for name in data.OWN_NAMES if name != data.HELD_OUT)

_SIZES = (4, 12, 30)
"""Records of the young stores that the relevance model also has to get right."""

_YOUNG, _MERGED, _TECHNICAL = 0.3, 0.5, 0.25
"""How much a prompt counts in a young store, in one store of all projects, and in a technical set. Without the last
the relevance model trusts too much in large stores of long texts; with more it serves real projects less."""

_TAGGED = 0.15
"""How much a prompt counts whose only word of the record is in its tags: prompts that people wrote have hardly any."""

_TRANSLATED = 1.0
"""How much a prompt counts in another language than that of the records."""

_JOINED = 0.5
"""How much a prompt counts that asks for two things."""

_REAL = 3.0
"""How much a prompt counts that somebody typed at work: there are five times as many written ones."""

_MOST_TECHNICAL, _MOST_STRANGE = 150, 50
"""Prompts of a technical set, and of each other set that are asked of it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=data.SHARED, help="folder of the sets that are not ours")
    parser.add_argument("--clones", type=Path, help="a folder with clones, to read what people typed from first")
    parser.add_argument("--dry-run", action="store_true", help="show the figures, leave the coefficients alone")


def run(options: argparse.Namespace) -> int:
    for name in (*word_sets.FIT, *word_sets.CHOOSE) if options.clones else ():
        word_sets.load(name, options.clones)
    missing = missing_sets(options.data)
    if missing:
        print(
            f"cannot fit without: {', '.join(missing)} (docs/benchmarks.md says where they come from)", file=sys.stderr
        )
        return 1
    parts = collect(options.data)
    folds = {name: fit_both(without(name, parts)) for name in (*PROJECTS, *TECHNICAL, *_INVENTED, *word_sets.FIT)}
    models = fit_both([part for each in parts.values() for part in each])
    judged = judge_left_out(folds, options.data) + judge_typed(folds, models)
    chosen = thresholds.choose(judged)
    print(chosen)
    for kinds in (thresholds.WRITTEN, thresholds.TYPED):
        print(kinds, thresholds.show([each for each in judged if each.pool.kind in kinds], *chosen[:2]))
    if not options.dry_run:
        coefficients_file.write(
            coefficients_file.PROMPTS, coefficients_file.prompt_lines(chosen, models), sorted(parts)
        )
        results.save("fit", {**chosen._asdict(), "curve": thresholds.curve(judged)})
        results.save("folds", {name: coefficients_file.plain(each) for name, each in folds.items()})
        print(f"wrote {coefficients_file.FILE}")
    return 0


def judge_left_out(folds: dict[str, dict[str, Model]], folder: Path) -> list[Ranked]:
    """Judge each project by a model that never saw it, with three triggers a record and with all."""
    judged: list[Ranked] = []
    for name in PROJECTS:
        model = folds[name]["WITH_MEANING"]
        for variant in ("lean", "full") if life_sets.has_full_triggers(name) else ("lean",):
            pools = examples.gather(life_sets.load(name, variant, folder=folder))
            judged += [learn.judge(model, pool) for pool in pools]
    return judged


def judge_typed(folds: dict[str, dict[str, Model]], models: dict[str, Model]) -> list[Ranked]:
    """Judge what people typed in each project by a model that never saw it."""
    judged: list[Ranked] = []
    for name in (*word_sets.FIT, *word_sets.CHOOSE):
        word_set = word_sets.load(name, None)
        assert word_set
        model = folds.get(name, models)["WITH_MEANING"]
        judged += [learn.judge(model, pool) for pool in examples.gather(word_sets.as_set(name, word_set))]
    return judged


def missing_sets(folder: Path) -> list[str]:
    """Return the sets to learn from that are not there."""
    absent = [str(folder / name) for name in (*life_sets.FIT, *TECHNICAL) if not (folder / name).is_dir()]
    absent += [f"prompts of {name}" for name in (*word_sets.FIT, *word_sets.CHOOSE) if not word_sets.load(name, None)]
    return absent + [f"commit subjects of {name}" for name in life_sets.CHOOSE if not life_sets.has_subjects(name)]


def fit_both(parts: Sequence[Part]) -> dict[str, Model]:
    """Fit a model of all features, and one of words for where there is no table of vectors."""
    return {"WITH_MEANING": learn.fit(parts), "WORDS_ONLY": learn.fit(parts, len(word_features.NAMES))}


def without(name: str, parts: dict[str, list[Part]]) -> list[Part]:
    """Return all parts but those of one set and those that hold some of it."""
    return [part for key, each in parts.items() if key not in (name, "together") for part in each]


def collect(folder: Path) -> dict[str, list[Part]]:
    """Return the parts of all sets that may be learnt from, by set."""
    jobs = [
        *((project, name, folder) for name in PROJECTS),
        *((technical, name, folder) for name in TECHNICAL),
        *((invented, name, folder) for name in _INVENTED),
        *((typed, name, folder) for name in word_sets.FIT),
        (together, "together", folder),
    ]
    with Workers(2) as workers:
        gathered = workers.starmap(_run, jobs, chunksize=1)
    return {name: parts for (_, name, _), parts in zip(jobs, gathered)}


def _run(job: Callable[[str, Path], list[Part]], name: str, folder: Path) -> list[Part]:
    return job(name, folder)


def project(name: str, folder: Path) -> list[Part]:
    """Return a life set in all variants, and in young stores."""
    sets = {variant: life_sets.load(name, variant, folder=folder) for variant in life_sets.VARIANTS}
    if not life_sets.has_full_triggers(name):
        del sets["full"]
    parts = [Part(examples.gather(each)) for each in sets.values()]
    for size in _SIZES:
        parts.append(Part(examples.gather(examples.smaller(sets["lean"], size)), _YOUNG))
    parts.append(Part(examples.gather(examples.joined(sets["lean"])), _JOINED))
    translated = languages.translated(sets["lean"])
    if translated.prompts:
        parts.append(Part(examples.gather(translated), _TRANSLATED))
    asked = sets["lean"]._replace(name=f"{name}-tags", prompts=tuple(tags.prompts(sets["lean"].records)))
    return [*parts, Part(examples.gather(asked), _TAGGED)]


def typed(name: str, _: Path) -> list[Part]:
    """Return what people typed in one project, with three triggers a record and with none."""
    word_set = word_sets.load(name, None)
    assert word_set
    sets = (word_sets.as_set(name, word_set), word_sets.as_set(name, word_set, 0)._replace(name=f"words-{name}-none"))
    return [Part(examples.gather(each), importance) for each, importance in zip(sets, (_REAL, _REAL / 3))]


def technical(name: str, folder: Path) -> list[Part]:
    """Return a large store of other texts: asked its own prompts, with and without answers, and those of others."""
    own = data.load(name, folder=folder)
    asked = own._replace(prompts=examples.sample(own.answerable, _MOST_TECHNICAL, name))
    others = [data.load(other, folder=folder) for other in TECHNICAL if other != name]
    strange = [prompt for other in others for prompt in examples.sample(other.prompts, _MOST_STRANGE, name)]
    idle = own._replace(prompts=tuple(prompt._replace(relevant=frozenset()) for prompt in strange))
    gathered = (examples.gather(asked), examples.gather(asked, removed=True), examples.gather(idle))
    return [Part(pools, _TECHNICAL) for pools in gathered]


def invented(name: str, _: Path) -> list[Part]:
    """Return one of our invented projects, with and without triggers."""
    sets = [data.load(name), data.load(name, triggers=False)._replace(name=f"{name}-")]
    return [Part(examples.gather(each), is_ranked_only=True) for each in sets]


def together(name: str, folder: Path) -> list[Part]:
    """Return all projects in one store."""
    sets = [life_sets.load(each, "lean", folder=folder) for each in PROJECTS]
    return [Part(examples.gather(examples.together(sets, name)), _MERGED)]
