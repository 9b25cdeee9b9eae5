"""The tables of docs/figures.md, each from one stored result, by its name there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench import page
from bench.shares import wilson

Measured = Mapping[str, Any]


def _percent(share: float, low: float, high: float) -> str:
    return f"{share * 100:.0f} % ({low * 100:.0f} to {high * 100:.0f})"


def _of(part: int, of: int) -> str:
    """Return a share of a count, with the count."""
    if not of:
        return "none"
    return f"{part} of {of}: {_percent(part / of, *wilson(part, of))}"


def words(measured: Measured) -> str:
    """Return what prompts got before and get now, and what whole sessions get."""
    rows = (
        ("rules that are relevant", "precision"),
        ("rules that are relevant or defensible", "precision with maybe"),
        ("prompts that need a record: its rule is shown", "served"),
        ("the same: a rule or a pointer", "reached"),
        ("prompts that no record is about: a rule is shown", "disturbed"),
        ("the same: a pointer is shown", "pointed idle"),
    )
    variants = (measured["before"]["three"], *(measured["variants"][name]["all"] for name in ("three", "none")))
    table = [[what, *(_in_life(each, key) for each in variants)] for what, key in rows]
    ranked = [
        f"{each['hit 1']:.2f} / {each['hit 3']:.2f} ({each['bm25 hit 1']:.2f} / {each['bm25 hit 3']:.2f})"
        for each in variants
    ]
    table.append(["a record that is needed is first / among the first three (porter BM25)", *ranked])
    parts = {**measured["sessions"], **{f"joined, {name}": part for name, part in measured["joined"].items()}}
    shares = [
        [_WORDS[name], f"{_of(part, of)} [{low:.2f}, {high:.2f}]"] for name, (part, of, low, high) in parts.items()
    ]
    kappas = ", ".join(f"{name} {value:.2f}" for name, value in measured["agreement"].items() if name != "prompts")
    agreed = f"A second labeller read {measured['agreement']['prompts']} of the prompts; Cohen's kappa: {kappas}."
    head = ["three triggers a record", "before", "now", "now, no triggers"]
    return f"{page.table(head, table)}\n\n{page.table(['in whole sessions', ''], shares)}\n\n{agreed}"


_WORDS = {
    "relevant, by prompts": "records that prompts need: shown by a prompt, now or before",
    "relevant, with the map": "the same, or named in the map",
    "corrected, by prompts": "rules that people corrected the agent with: shown before by a prompt",
    "corrected, with the map": "the same, or named in the map",
    "joined, typed": "two of these prompts in one: rules kept of those that each gets alone",
    "joined, written": "the same with written prompts",
}


def life(measured: Measured) -> str:
    rows = (
        ("rules that are relevant", "written prompts", "precision"),
        ("prompts with an answer: a rule gives it", "written prompts", "served"),
        ("the same: a rule or a pointer gives it", "written prompts", "reached"),
        ("prompts without an answer: a rule is shown", "written prompts", "disturbed"),
        ("the same: a pointer is shown", "written prompts", "pointed idle"),
        ("prompts in other words: a rule answers", "in other words", "served"),
        ("commit subjects: rules that are relevant or defensible", "commit subjects", "precision with maybe"),
        ("commit subjects with an answer: a rule gives it", "commit subjects", "served"),
    )
    variants = measured["variants"].values()
    return page.table(
        ["", "no triggers", "three", "ten"],
        [[what, *(_in_life(each[kind], key) for each in variants)] for what, kind, key in rows],
    )


def _in_life(figures: Measured, key: str) -> str:
    return _percent(figures[key], *figures["intervals"][key])


def past(measured: Measured) -> str:
    """Return shares with intervals; below each those before, and those of the English questions."""
    variants, before, english = measured["variants"], measured["before"], measured["english"]
    rows = []
    for name, figure in next(iter(variants.values())).items():
        rows.append([name, str(figure["of"]), *(_spread(each[name]) for each in variants.values())])
        rows.append(["*before*", "", *(_spread(before[variant][name]) for variant in variants)])
        count = str(english["none"][name]["of"])
        rows.append(["*in English*", count, *(_spread(english[variant][name]) for variant in variants)])
    return page.table(["", "questions", "no triggers", "three", "ten"], rows)


def _spread(figure: Measured) -> str:
    return _percent(figure["share"], figure["low"], figure["high"])


_CONDITIONS = {
    "none": "no memory",
    "rules": "rules at prompts",
    "map": "the map",
    "map-rules": "the map, and rules at prompts",
    "map-pointers": "the map, rules and pointers at prompts",
    "action": "rules at commands and files",
    "map-action": "the map, and rules at commands and files",
    "part": "four projects in one store: a map of a part",
    "part-context": "the same, each task a session on a branch of its own",
    "part-rules": "the same map, with rules and pointers at prompts",
}


def agents(measured: Measured) -> str:
    """Return what agents did with and without the memory: governed tasks, traps at a command, idle tasks."""
    kinds, spent = measured["kinds"], measured["spent"]
    tables = []
    for kind, head in (("governed", "tasks that records govern"), ("trap", "tasks that lead to a governed command")):
        rows = [
            [
                _CONDITIONS[name],
                f"{row['full']} of {row['tasks']}",
                str(row["partly"]),
                str(row["against"]),
                f"{row['reason']:.0%}",
                f"{row['quality']:.1f}",
                f"{spent[name]['tokens']:,}",
                f"{spent[name]['look_ups']:.1f}",
                _difference(row["against_others"].get("none", {}).get("points")),
            ]
            for name, row in kinds[kind].items()
        ]
        tables.append(page.table([head, *_AGENT_HEADS], rows))
    idle = [
        [
            _CONDITIONS[name],
            str(row["tasks"]),
            f"{row['quality']:.2f}",
            f"{row['needless']:.0%}",
            _difference(row["against_others"].get("none", {}).get("quality")),
        ]
        for name, row in kinds["idle"].items()
    ]
    heads = ["tasks that no record is about", "number", "quality", "needless work", "quality against no memory"]
    return "\n\n".join([*tables, page.table(heads, idle)])


_AGENT_HEADS = (
    "follows the records fully", "partly", "does what one forbids", "gives the reason", "quality, 1 to 5",
    "tokens a request", "look-ups a request", "points against no memory, of 2",
)  # fmt: skip


def _difference(numbers: Sequence[float] | None) -> str:
    if not numbers:
        return ""
    mean, low, high = numbers
    return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"


def actions(measured: Measured) -> str:
    """Return what commands are shown, in the projects that were left out."""
    names = {
        "right": ("shown records that govern the command", "shown"),
        "served": ("governed commands that get one that does", "governed"),
        "disturbed": ("ordinary commands that get one", "ordinary"),
    }
    rows = [
        [words, str(measured[count]), f"{measured[name]:.2f}", "{:.2f} to {:.2f}".format(*measured["intervals"][name])]
        for name, (words, count) in names.items()
    ]
    return page.table(["", "of", "share", "interval"], rows)


def corrections(measured: Measured) -> str:
    """Return what prompts that correct the agent bring, a column for each project."""
    projects = measured["projects"]
    rows = {
        "brought": "corrections with a rule on file that bring it",
        "by the prompt hook alone": "the same, without looking for corrections",
        "known": "corrections that count as such",
        "other": "other prompts that count as corrections",
        "right": "prompts with a rule as broken for which a shown one is relevant or defensible",
    }
    cells = [
        [words, *(_of(*figures[name]) if name in figures else "" for figures in projects.values())]
        for name, words in rows.items()
    ]
    return page.table(["", *projects], cells)


def failures(measured: Measured) -> str:
    rows = [
        [name, str(each["failures"]), _of(each["right"], each["shown"]), _of(each["right"], each["answerable"])]
        for name, each in measured["sets"].items()
    ]
    return page.table(["set", "failures", "shown runbooks that are right", "failures with a runbook that get it"], rows)


def titles(measured: Measured) -> str:
    rows = [[name, str(each["topics"]), _of(each["act"], each["read"])] for name, each in measured["groups"].items()]
    return page.table(["lines of", "titles that are topics", "lines that can be acted on"], rows)


def banks(measured: Measured) -> str:
    """Return two rows for each part, a column for each ranking."""
    rows = []
    for each in measured["parts"].values():
        of = f"{each['features']} {each['what']}"
        rows.append([f"{of}: fitting lessons among the first ten, of {each['fits']}", *_ranked(each["found"])])
        enough = f"the same: with three of them, or all, of the {each['with_bm25']} features for which BM25 has one"
        rows.append([enough, *_ranked(each["enough"])])
    return page.table(["", "now", "plain BM25", "0.2.0"], rows)


def _ranked(figures: Measured) -> list[str]:
    return [str(figures[name]) for name in ("now", "bm25", "old")]


def capture(measured: Measured) -> str:
    rows = [[name, _percent(*values)] for name, values in measured["measures"].items()]
    return page.table([f"{measured['sessions']} sessions", "share"], rows)


def first_prompts(measured: Measured) -> str:
    return page.table(
        ["first prompts", "share"], [[name, _of(part, of)] for name, (part, of) in measured["counts"].items()]
    )


def similar(measured: Measured) -> str:
    every = measured["all"]
    return page.table(
        ["", "share"],
        [
            ["records named as similar at a save that settle the same question", _of(every["right"], every["named"])],
            *(
                [
                    f"replaced records that a search lists among the first {depth}",
                    _of(every[f"found in {depth}"], every["replacements"]),
                ]
                for depth in (3, 5, 10)
            ),
        ],
    )


def imported(measured: Measured) -> str:
    rows = [
        [part, str(each["records"]), _of(each["right"], each["proposed"]), str(each["swapped"])]
        for part, each in measured["parts"].items()
    ]
    seen = page.table(["records of", "records", "proposed ones that are right", "options swapped"], rows)
    kinds = ("right", "false", "garbled", "dangling")
    first = []
    for name, counted in measured["at first sight"].items():
        right, wrong, garbled, dangling = (counted.get(kind, 0) for kind in kinds)
        drafts = right + wrong + garbled + dangling
        first.append([name, str(sum(counted.values())), _of(right, drafts), _of(drafts - wrong, drafts)])
    heads = [
        "at first sight, pages of",
        "pages",
        "drafts without a false or garbled sentence",
        "drafts without a false one",
    ]
    return f"{seen}\n\n{page.table(heads, first)}"


def improve(measured: Measured) -> str:
    tasks = {name: each["kinds"]["task"] for name, each in measured["figures"].items()}
    rows = [
        [f"{key}, of {next(iter(tasks.values()))['prompts']} tasks", *(_percent(*each[key]) for each in tasks.values())]
        for key in ("hit@1", "hit@3", "served")
    ]
    return page.table(["triggers by", *tasks], rows)


def judge(measured: Measured) -> str:
    rows = [
        [each["system"], *(_of(round(each[key] * each["of"][key]), each["of"][key]) for key in each["of"])]
        for each in measured["figures"]
        if each["set"] == "all"
    ]
    return page.table(
        ["", "rules that are relevant", "prompts that are answered", "prompts that get a wrong rule"], rows
    )


def latency(measured: Measured) -> str:
    rows = []
    for python, sizes in measured["pythons"].items():
        for size in sorted(sizes, key=int):
            cells = [_hook(sizes[size].get(case)) for case in _PROMPT_CASES]
            rows.append([python, f"{int(size):,}", *cells])
        beside = measured.get("replica", {}).get(python, {})
        rows += [[python, f"500, {case}", _hook(cost), "", ""] for case, cost in beside.items()]
    prompts = page.table(["Python", "records", "nothing changed", "one file changed", "no index yet"], rows)
    return f"{prompts}\n\n{_command_latency(measured)}"


_PROMPT_CASES = ("warm", "one file changed", "cold cache")


def _command_latency(measured: Measured) -> str:
    """Return the costs of the hooks before a command and at the start of a session."""
    cases = ("an ordinary command", "a command that a record governs", "a session starts")
    rows = [
        [python, f"{int(size):,}", *(_hook(sizes[size].get(case)) for case in cases)]
        for python, sizes in measured["pythons"].items()
        for size in sorted(sizes, key=int)
        if cases[0] in sizes[size]
    ]
    return page.table(["Python", "records", *cases], rows)


def _hook(cost: Measured | None) -> str:
    if not cost:
        return ""
    low, high = cost.get("cpu ratio, nine in ten") or (cost["cpu ratio"], cost["worst cpu ratio"])
    return f"{cost['cpu ratio']:.1f} × ({low:.1f} to {high:.1f}), {cost['cpu ms']:.0f} ms"


def events(measured: Measured) -> str:
    cases = measured.get("hooks") or measured["cases"]
    return page.table(["when", "CPU time"], [[name, _hook(cost)] for name, cost in cases.items()])


def scale(measured: Measured) -> str:
    sizes = measured["sizes"]
    order = sorted(sizes, key=int)
    cases = dict.fromkeys(case for size in order for case in sizes[size])
    rows = [[case, *(_seconds(sizes[size].get(case)) for size in order)] for case in cases]
    return page.table(["CPU time", *(f"{int(size):,} records" for size in order)], rows)


def _seconds(cost: Mapping[str, float] | None) -> str:
    """Return seconds of CPU time, with the multiple of a bare interpreter where it was measured; empty for none."""
    if not cost:
        return ""
    times = f", {cost['cpu ratio']:.1f} ×" if "cpu ratio" in cost else ""
    return f"{cost['cpu']:.2f} s{times}"


def clones(measured: Measured) -> str:
    rows = [
        [
            f"{int(size):,}",
            f"{each['session start']['cpu ratio']:.0f} ×, {1000 * each['session start']['cpu']:.0f} ms",
            f"{each['indexed by it']:,}",
            f"{each['worst prompt']['cpu ratio']:.1f} ×, {1000 * each['worst prompt']['cpu']:.0f} ms",
            f"{each['complete after']:.1f} s",
        ]
        for size, each in sorted(measured["sizes"].items(), key=lambda item: int(item[0]))
    ]
    heads = ["records", "session start", "known by then", "the slowest prompt meanwhile", "all known after"]
    return page.table(heads, rows)


def mcp(measured: Measured) -> str:
    cases = {name: each for name, each in measured.items() if isinstance(each, dict) and "cpu ratio" in each}
    rows = [[name, f"{each['cpu ratio']:.1f} ×, {each['cpu ms']:.0f} ms"] for name, each in cases.items()]
    return page.table(["until it has answered", "CPU time"], rows)


def mcp_servers(measured: Measured) -> str:
    rows = [
        [
            name,
            f"{each['cpu ratio']:.1f} ×, {each['cpu ms']:,.0f} ms",
            f"{each['tool tokens']:,} for {each['tools']}",
            *(_found(each, f"{kind} in {first}") for kind in ("the prompt", "three words") for first in (1, 3)),
        ]
        for name, each in measured["servers"].items()
    ]
    heads = ["server", "start, list of tools", "tokens of the tools"]
    return page.table([*heads, "prompt: first", "in three", "three words: first", "in three"], rows)


def intent(measured: Measured) -> str:
    shares = (("first", "answered"), ("right", "shown"), ("served", "answered"), ("false", "silent"))
    rows = [[bonus, *(_share(each, part, of) for part, of in shares)] for bonus, each in measured["written"].items()]
    heads = [
        "bonus",
        "first result right",
        "rules shown: right",
        "answered: its rule shown",
        "unanswered: a rule shown",
    ]
    return page.table(heads, rows)


def _share(each: Measured, part: str, of: str) -> str:
    low, high = wilson(each[part], each[of])
    return f"{each[part]} of {each[of]} [{100 * low:.0f}–{100 * high:.0f}]"


def _found(each: Measured, name: str) -> str:
    """Return a count as a share of all prompts, out of 100, with its interval."""
    low, high = wilson(each[name], each["prompts"])
    return f"{100 * each[name] / each['prompts']:.0f} [{100 * low:.0f}–{100 * high:.0f}]"


def web(measured: Measured) -> str:
    rows = [[name, f"{each:.0f} ms"] for name, each in measured["pages"].items()]
    sizes = f"{measured['records']:,} records and {measured['files']:,} files"
    return page.table([f"page, {sizes}", "CPU time of the server"], rows)


_HUB_ROWS = ("connect", "search in all teams", "search in one team", "pull of 100 changes", "push of 100")


def hub(measured: Measured) -> str:
    """Return the tables of a hub: times and disk by the number of records, and clients that sync at once."""
    sizes = {f"{int(size):,} records": figures for size, figures in measured["sizes"].items()}
    parts = [page.table(["p50 / p95", *sizes], _growth(list(sizes.values())))]
    if all("bytes for a record" in figures for figures in sizes.values()):
        disk = [
            [part, *(f"{figures['bytes for a record'][part] / 1000:.2f} kB" for figures in sizes.values())]
            for part in ("table", "search index", "indexes")
        ]
        parts.append(page.table(["disk for each record", *sizes], disk))
    if "clients" in measured:
        parts.append(page.table(["clients that sync at once", ""], _clients(measured["clients"])))
    return "\n\n".join(parts)


def _growth(sizes: list[Measured]) -> Iterator[list[str]]:
    names = [name for name in _HUB_ROWS if all(name in figures for figures in sizes)]
    for name in names:
        yield [name, *(f"{figures[name]['p50']:,.0f} / {figures[name]['p95']:,.0f} ms" for figures in sizes)]
    for name in names:
        if name.startswith("search"):
            yield [f"CPU of the server for a {name}", *(f"{figures[name]['server cpu']:.0f} ms" for figures in sizes)]
    for kind in ("first pull", "first sync"):
        if all(f"{kind} seconds" in figures for figures in sizes):
            counts = (figures["records of the first pull"] for figures in sizes)
            seconds = (figures[f"{kind} seconds"] for figures in sizes)
            yield [kind, *(f"{time:.1f} s ({count:,} records)" for time, count in zip(seconds, counts))]
    if all("load average" in figures for figures in sizes):
        yield [
            "load average, with other programs",
            *(str(figures["load average"]) for figures in sizes),
        ]


def _clients(measured: Measured) -> list[list[str]]:
    places = "; ".join(f"{count} {kind}" for kind, count in measured["where they are"].items())
    return [
        ["clients", str(measured["clients"])],
        ["syncs", f"{measured['syncs']} in {measured['seconds']} s: {measured['syncs a second']} a second"],
        ["files pushed", f"{measured['files pushed']}: {measured['files pushed a second']} a second"],
        ["one sync, p50 / p95", f"{measured['sync p50 ms']:,} / {measured['sync p95 ms']:,} ms"],
        ["conflicts", str(measured["conflicts"])],
        ["syncs that left something for the next", str(measured["syncs that left something for the next"])],
        ["further syncs until all replicas are equal", str(measured["further syncs until all are equal"])],
        [f"where the {measured['decisions written']} written decisions are", places],
        ["decisions lost", "0"],
    ]


def package(measured: Measured) -> str:
    wheel = measured["wheel"]
    largest, size = next(iter(wheel["largest"].items()))
    longest = measured["longest module"]
    return page.table(
        ["what", "how much"],
        [
            ["wheel", f"{wheel['bytes'] / 1e6:.1f} MB, at most 8; {size / 1e6:.1f} MB of it are `{largest}`"],
            *(
                [f"`{part}`", f"{each['files']:,} files, {each['lines']:,} lines"]
                for part, each in measured["parts"].items()
            ),
            ["packages", str(measured["packages"])],
            ["longest module", f"`{longest['name']}`, {longest['lines']} lines"],
        ],
    )


def mutants(measured: Measured) -> str:
    counts: dict[str, int] = {}
    for each in measured["mutants"]:
        counts[each["status"]] = counts.get(each["status"], 0) + 1
    real = sum(counts.values()) - counts.get("equivalent", 0)
    rows = [["noticed by a test, of those that change anything", _of(counts.get("killed", 0), real)]]
    rows += [[name, str(count)] for name, count in sorted(counts.items()) if name != "killed"]
    return page.table([f"{sum(counts.values())} changes", ""], rows)


def fuzz(measured: Measured) -> str:
    rows = [
        ["hostile projects", f"{measured['cases']:,}"],
        ["processes", f"{measured['processes']:,}"],
        ["failures", f"{sum(measured['failed'].values()):,}"],
        *([f"most: {name}", f"{value:,.0f}"] for name, value in sorted(measured["worst"].items())),
    ]
    return page.table([f"seed `{measured['seed']}`, {measured['minutes']:g} minutes", ""], rows)


def faults(measured: Measured) -> str:
    names = sorted(name for name in measured if name.isupper())
    rows = [
        ["commands", f"{measured['commands']:,}"],
        ["faults", f"{measured['faults']:,}"],
        *([f"of these {name}", f"{measured[name]:,}"] for name in names),
        ["half done, or said wrongly", f"{measured['flaws']:,}"],
    ]
    share = "every fault" if measured["step"] == 1 else f"one fault in {measured['step']}"
    return page.table([share, ""], rows)
