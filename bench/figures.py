"""`python -m bench figures`: docs/figures.md, all figures on one page, from the stored results.

Only the standard library is needed, so that `scripts/docs --check` can compare the page with the results anywhere.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import figure_tables, results
from bench.figure_tables import Measured

PAGE = Path(__file__).parents[1] / "docs" / "figures.md"

_HEAD = """# All figures

<!-- Generated from bench/results by `python -m bench figures` and `scripts/docs`. Edits are overwritten. -->
"""
_ABOUT = (
    "All that was measured, and how to repeat it."
    " `python -m bench all` measures everything on this page and writes it again; `--only` and `--skip` name parts."
    " Below each table stand its command, the day, the machine and the commit. A *load* above the number of cores means"
    " that other programs competed for them: CPU times are then up to half higher, multiples of a bare interpreter less"
    " so, times on the clock several times. Ranges in brackets are 95 % intervals unless something else is said."
)
_WIDTH = 132


class Section(NamedTuple):
    """A part of the page: the result it shows, and how."""

    title: str
    result: str
    text: str
    table: Callable[[Measured], str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that is written")


def run(options: argparse.Namespace) -> int:
    options.page.write_text(text(), encoding="utf-8")
    print(f"wrote {options.page}")
    return 0


def text() -> str:
    """Return the whole page; what was never measured is left out."""
    parts = [_HEAD, _filled(_ABOUT) + "\n"]
    for section in SECTIONS:
        measured = results.load(section.result)
        if measured:
            table = section.table(measured)
            source = _source(section.result, measured)
            parts.append(f"## {section.title}\n\n{_filled(section.text)}\n\n{table}\n\n{_filled(source)}\n")
    return "\n".join(parts)


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _source(name: str, measured: Measured) -> str:
    run = measured.get("run") or {"command": f"python -m bench {name}"}
    facts = [f"`{run['command']}`", f"{measured['date']}"]
    if "python" in measured:
        facts.append(f"Python {measured['python']}")
    if "machine" in run:
        facts += [str(run["machine"]), f"load {run['load']:.1f}", f"commit {run['commit']}"]
    return ", ".join(facts) + "."


SECTIONS: Sequence[Section] = (
    Section(
        "Does the agent do what the team decided?",
        "agents",
        "Coding agents got the same requests in two public projects on which nothing was fitted, with and without parts"
        " of the memory, and wrote what they would do. Two graders who did not know the condition marked each answer;"
        " where they differ, the worse mark counts."
        " [How it was done](benchmarks.md#does-the-agent-do-what-the-team-decided), with all answers and marks.",
        figure_tables.agents,
    ),
    Section(
        "What is shown for words that people typed",
        "words",
        "514 prompts that people typed to coding agents in five public projects (FSM1/cipher-box,"
        " JanDeDobbeleer/oh-my-posh, JobiJoba/SchaerbeekMunicipality, guthubrx/bigmind, yutakobayashidev/repiq; 143 are"
        " French or Japanese), verbatim, with records that one author wrote from documents and earlier sessions and"
        " labels by another. Nothing of what prompts are shown was fitted or chosen on them. *Defensible*: a careful"
        " colleague might mention it. *Before* is commit 2e692921. Each prompt is asked alone; then once more in its"
        " session, with the map at the beginning. [How the sets were made](benchmarks.md#what-people-type).",
        figure_tables.words,
    ),
    Section(
        "What is shown at a prompt",
        "life",
        "Four public projects on which nothing was fitted and nothing chosen. [Benchmarks](benchmarks.md) has every"
        " kind of prompt, the comparison with BM25, and how the projects were [labelled](benchmarks.md#life-sets).",
        figure_tables.life,
    ),
    Section(
        "Questions about the past",
        "past",
        "Questions of seven public projects on which nothing of this was fitted and nothing chosen: the four above,"
        " entireio/cli, JanDeDobbeleer/oh-my-posh and obsessiondb/chkit. Each is asked of the whole store, and"
        " once more after the records that answer it were *removed*; *absent* are questions about what the project"
        " never decided. Three in ten are in German, Spanish or French. A rule or a pointer without an answer on file"
        " counts as wrong, however near its subject. *Before* are the same questions at commit 2e692921."
        " [What is behind them](benchmarks.md#questions-about-the-past).",
        figure_tables.past,
    ),
    Section(
        "Before a command",
        "actions",
        "330 commands that coding agents ran in three public projects (entireio/cli, JanDeDobbeleer/oh-my-posh,"
        " obsessiondb/chkit), with records that another author wrote from the projects' documents, and labels by one"
        " reader; a second one gave the same to 103 of 108. Nothing was chosen or fitted on them: the model was fitted"
        " on 320 commands of three others. About half were drawn at random, the rest because a record has their words."
        " *Ordinary* commands are random ones that no record governs; what a record might govern counts neither way."
        " Authors and readers were language models. Intervals of 95 %, over commands.",
        figure_tables.actions,
    ),
    Section(
        "Corrections",
        "corrections",
        "Prompts that people typed to coding agents in six public projects, session by session, with records written"
        " from documents and earlier sessions, and labels by one reader for each project. Phrases were chosen on four"
        " of them, and on the written prompts of the life sets, taken as later prompts of a session; nothing was chosen"
        " on the others. A rule is brought if the prompt shows it, as broken or not. What corrects only perhaps counts"
        " neither way.",
        figure_tables.corrections,
    ),
    Section(
        "After a failed command",
        "failures",
        "Nothing was chosen on `weir`, which was written last and measured once, nor on `quarry` and `runbooks`,"
        " of which each case's outcome was seen on the way. The thresholds and rules come from the others."
        " `weir`, `mill` and `pier` have runbooks as the skill says to write them,"
        " and as many failures that only look like theirs."
        " `runbooks` asks for something else: it has 379 pages about alerts, each one long text without symptoms,"
        " and commands that print other words than these pages. For 6 of the 37 failures a right page has a run of"
        " rare words of the output, and for as many failures a wrong one has. So none is shown. A runbook is shown"
        " for what it quotes: [symptoms in the words of the"
        " program](how-to/write-records-that-are-found.md#runbooks-and-failed-commands).",
        figure_tables.failures,
    ),
    Section(
        "Lines that state a rule",
        "titles",
        "What stands for a record at session start. One reader marked whether an agent can act on the line: it says"
        " what to do or what holds. Where a title is only a topic, the line has the beginning of the rule.",
        figure_tables.titles,
    ),
    Section(
        "Lessons for a feature",
        "banks",
        "Features of one public project with [knowledge banks](reference/knowledge-banks.md), each when its"
        " specification was written, with the lessons of that day. One reader marked those that fit.",
        figure_tables.banks,
    ),
    Section(
        "What sessions decide",
        "capture",
        "Sessions that were not read while tuning. How they were made: `bench/results/capture.md`.",
        figure_tables.capture,
    ),
    Section(
        "Suggestions at a first prompt",
        "first",
        "Rules in a first prompt, and prompts that only ask for work.",
        figure_tables.first_prompts,
    ),
    Section(
        "Records that replace others", "similar", "Twelve projects, each saved record by record.", figure_tables.similar
    ),
    Section(
        "Import of decision records",
        "import",
        "By round, each before the changes that followed it. Rounds 1 to 4 were learnt from afterwards, and measured"
        " before drafts became short. Since round 5 at first sight, every sentence read against its page; since round"
        " 11 with a reader that puts nothing together. `bench/results/import.md` explains it.",
        figure_tables.imported,
    ),
    Section(
        "Triggers by the recipe",
        "improve",
        "Records of two projects, without triggers, with those that the recipe asks for, and with those of an author.",
        figure_tables.improve,
    ),
    Section(
        "What a judge could gain",
        "judge",
        "Two projects that thresholds were chosen on. A *perfect judge* always answers right"
        " ([more](how-to/judge.md)).",
        figure_tables.judge,
    ),
    Section(
        "The hook at a prompt and before a command, and hooks beside a shared store",
        "latency",
        "CPU time of the whole process, as a multiple of `python3 -S -E -c pass`, which runs in turn with it."
        " Medians; nine of ten runs are in the brackets. Ordinary commands are such as `ls`, `npm test` and"
        " `git status`; one record of each store governs `npm install`.",
        figure_tables.latency,
    ),
    Section(
        "Every hook",
        "cost",
        "The same for each event in a store of 142 real records. [What it costs](cost.md) has tokens and disk.",
        figure_tables.events,
    ),
    Section(
        "The end of a turn",
        "stop",
        "The same where nothing is worth saving, for several lengths of answers.",
        figure_tables.events,
    ),
    Section(
        "Commands and hooks in large stores",
        "scale",
        "Seconds of CPU time of the whole process, with an index that is up to date. *All files touched*: every file"
        " got a new modification time before, as after a checkout. A hook then checks 64 files, or 512 after a change"
        " of a folder, and each record that it shows; a command checks at most 50,000. Commands that read every record"
        " are measured up to 50,000; `doctor` uses two processes, and the time of both is counted. *×*: multiples of a"
        " bare interpreter. A save that finds no `index.md` reads all records before it locks the store.",
        figure_tables.scale,
    ),
    Section(
        "A fresh clone",
        "clones",
        "The first session in a project without an index. Its start indexes what it has time for, the most urgent"
        " records first, and leaves the rest to a process of its own; prompts are asked while that runs. CPU time of"
        " the hooks, as a multiple of `python3 -S -E -c pass`; *all known after*: seconds on the clock since the"
        " session's start.",
        figure_tables.clones,
    ),
    Section("The MCP server", "mcp", "From its start, as a multiple of `python3 -S -E -c pass`.", figure_tables.mcp),
    Section(
        "The MCP server beside others",
        "mcp_servers",
        "The same records and prompts of four projects on which nothing was fitted, three triggers a record, searched"
        " with the whole prompt and with its three rarest words. Out of 100 prompts that a record answers: how often"
        " one that does came first, and among the first three"
        " ([how](agents/mcp.md#beside-other-memory-servers)).",
        figure_tables.mcp_servers,
    ),
    Section(
        "Words of intent",
        "intent",
        "Written prompts with a word such as *crash*, *why* or *left off*, in projects on which nothing was chosen."
        " The bonus, in logits, was chosen on eight others; 0.05 only settles ties.",
        figure_tables.intent,
    ),
    Section(
        "The pages of `onrecord web`",
        "web",
        "*First* is the first request after files may have changed. Two of three records name a file, a folder or a"
        " pattern.",
        figure_tables.web,
    ),
    Section(
        "A hub",
        "hub",
        "Records of 2,000 repositories in 50 teams, with words distributed as in real text, on a PostgreSQL 15 that"
        " survives a power cut (`fsync = on`). Server and clients share the machine, and no network is measured: add a"
        " round trip or two for each operation. *In all teams* is by a login that belongs to all 50, *in one team* by"
        " one that belongs to the largest. *Pull of 100 changes* is what `onrecord sync` waits for when colleagues"
        " have changed 100 records. *First sync* is the first pull, and writing the replica. The history adds the size"
        " of the file, 1.3 kB here, for each version that was replaced. The clients each have a replica: five times"
        " each saves a record, rewrites one of 20 records that all of them rewrite, and syncs; in the end every"
        " decision that was ever written is looked for. [What limits a hub](team/postgres.md#how-far-a-hub-reaches).",
        figure_tables.hub,
    ),
    Section(
        "The package", "package", "What users install, and how much of it there is to read.", figure_tables.package
    ),
    Section(
        "Whether the tests would notice",
        "mutants",
        "Small changes to random lines of the source, one at a time.",
        figure_tables.mutants,
    ),
    Section(
        "Hostile projects",
        "fuzz",
        "What is done to them, and what is checked: [security](security.md#what-was-tried).",
        figure_tables.fuzz,
    ),
    Section(
        "Faults",
        "faults",
        "Kills and errors of the system at file calls: [what is checked](security.md#what-was-tried).",
        figure_tables.faults,
    ),
)
