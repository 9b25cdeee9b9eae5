"""Does an agent do what the team decided? Tasks given to coding agents with and without the memory, marked blind.

    python -m bench agents project NAME CLONE DIR  make PROJECT, a folder, for one of our projects from a clone
    python -m bench agents prepare PROJECT OUT     one folder for each subject: requests, what the memory adds, tools
    python -m bench agents ask OUT --agent CMD     give every request to a coding agent's command, such as `claude -p`
    python -m bench agents pages OUT               blind pages for two graders: answers in random order, no conditions
    python -m bench agents grade OUT --grader CMD  let a model fill the pages in; people can do it by hand
    python -m bench agents report OUT              the table, with intervals

Another PROJECT is a folder with `records.jsonl`, `tasks.jsonl` and `repo/`, a checkout without the documents that the
records came from. docs/benchmarks.md says how ours were made.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.agents import checkout, grading, report, subject
from bench.agents.conditions import CONDITIONS
from bench.agents.project import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", required=True)
    project = steps.add_parser("project", help="the folder of one of our projects, from a clone of its repository")
    project.add_argument("name", choices=checkout.names())
    project.add_argument("clone", type=Path)
    project.add_argument("out", type=Path)
    prepare = steps.add_parser("prepare", help="one folder for each subject")
    prepare.add_argument("project", type=Path)
    prepare.add_argument("out", type=Path)
    prepare.add_argument("--conditions", nargs="+", choices=CONDITIONS, default=list(CONDITIONS))
    ask = steps.add_parser("ask", help="give every request to a coding agent's command")
    ask.add_argument("out", type=Path)
    ask.add_argument("--agent", required=True, help="a command that reads a prompt on stdin and prints an answer")
    ask.add_argument("--seconds", type=float, default=600, help="how long one answer may take")
    pages = steps.add_parser("pages", help="blind pages for the graders")
    pages.add_argument("out", type=Path)
    pages.add_argument("--graders", type=int, default=2)
    grade = steps.add_parser("grade", help="let a model fill the pages in")
    grade.add_argument("out", type=Path)
    grade.add_argument("--grader", required=True, help="a command that reads a page on stdin and prints the marks")
    grade.add_argument("--seconds", type=float, default=600)
    table = steps.add_parser("report", help="the table, with intervals")
    table.add_argument("out", type=Path)
    table.add_argument("--model", required=True, help="the model that the subjects and the graders were")
    table.add_argument("--save", default="", metavar="NAME", help="store it in bench/results under this name: agents")


def run(options: argparse.Namespace) -> int:
    if options.step == "project":
        print(checkout.make(options.name, options.clone, options.out))
    elif options.step == "prepare":
        for name in options.conditions:
            print(subject.prepare(load(options.project), CONDITIONS[name], options.out))
    elif options.step == "ask":
        subject.ask(options.out, options.agent, options.seconds)
    elif options.step == "pages":
        print(grading.write_pages(options.out, options.graders), "pages")
    elif options.step == "grade":
        grading.grade(options.out, options.grader, options.seconds)
    else:
        print(report.report(options.out, options.model, name=options.save))
    return 0
