"""`onrecord doctor`: the problems of a memory and an installation, how severe they are, and how to fix them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator

from onrecord import attention, files, paths
from onrecord.cli import arguments, output
from onrecord.cli.output import CommandResult, Screen, clean, fitted, labelled, readable
from onrecord.cli.terminal import Progress, watched
from onrecord.doctor import Finding, agents, machine, old_name, store_checks
from onrecord.doctor.machine import OwnFiles
from onrecord.errors import UnsafePath, Unwritable
from onrecord.git import git_files
from onrecord.project import Project
from onrecord.record import schema
from onrecord.settings import load_settings
from onrecord.store.store import Store
from onrecord.text import plural

_REGISTER = "onrecord init --merge-driver"
_UNTIL_DECIDED = "deleted when you accept or reject them"
_COLOURS = {"ok": "green", "note": "cyan", "warning": "yellow", "error": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="make the repairs that lose nothing")
    parser.add_argument("--category", type=arguments.category, metavar="NAME", help="only the records of this category")
    parser.add_argument("--privacy", action="store_true", help="list what is stored on this machine, and for how long")


def run(args: argparse.Namespace) -> CommandResult:
    if args.privacy:
        return _privacy(_stores(arguments.store_of(args)))
    category = args.category or ""
    root = paths.project_root(args.project)
    with Progress("examining the installation"):
        findings = [*machine.examine(), *agents.examine_claude_code(root), *agents.examine_connections(root)]
    repairs: list[str] = []
    try:
        stores = list(_stores(arguments.store_of(args)))
    except (UnsafePath, Unwritable) as error:
        stores = []
        findings.append(Finding("error", "store", error.message, error.fix))
    for store in stores[:1]:
        only = args.remote or ("user" if args.user else "")
        needs = [need for need in attention.needs(Project(args.project)) if not only or need.store in (only, "")]
        findings += [*store_checks.examine_needs(needs), *store_checks.examine_holdout(load_settings(store.root))]
        findings += store_checks.examine_remotes()
    for store in stores:
        if args.fix and store.exists:
            repairs += store_checks.repair(store)
        flags = " --user" if store.root == paths.user_store() else arguments.store_flags(args)
        findings += [_with_flags(finding, flags) for finding in _readable(_in_store(store, category))]
    if not args.user and stores:
        findings += _git(Project(args.project).root)
    findings += old_name.examine(root)
    findings = [_with_flags(finding, arguments.store_flags(args)) for finding in findings]
    data = {"findings": [finding._asdict() for finding in findings], "repaired": repairs}
    status = 1 if any(finding.severity == "error" for finding in findings) else 0
    result = CommandResult(data, lambda screen: _text(screen, findings, repairs), status)
    return result.warned(*(warning for store in stores for warning in store.warnings))


def _with_flags(finding: Finding, flags: str) -> Finding:
    return finding._replace(fix=output.add_store_flags(finding.fix, flags))


def _stores(store: Store) -> Iterator[Store]:
    """Yield the store and, if it has records or drafts, the user's, which is read in every session too.

    The folder of the user's store may exist for settings and remotes alone.
    """
    yield store
    user = Store(paths.user_store())
    is_used = any(files.is_folder(os.path.join(user.root, name)) for name in (*schema.FOLDERS.values(), paths.INBOX))
    if is_used and user.root != store.root:
        yield user


def _readable(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield the findings about a store; if its files cannot be read, that is the last one."""
    try:
        yield from findings
    except Unwritable as error:
        yield Finding("error", "store", error.message, error.fix)


def _in_store(store: Store, category: str) -> Iterator[Finding]:
    yield from store_checks.examine_store(
        store,
        load_settings(store.root),
        lambda scanned: watched(scanned, "examining records"),
        category,
    )


def _privacy(all_stores: Iterable[Store]) -> CommandResult:
    """Return what is stored about sessions and for how long, on this machine and in the stores' inboxes."""
    inboxes = [
        machine.measure(os.path.join(store.root, paths.INBOX), "drafts that wait for review")._replace(
            until=_UNTIL_DECIDED
        )
        for store in all_stores
    ]
    items = [item for item in (*inboxes, *machine.replicas(), *machine.all_own_files()) if item.files]

    def text(screen: Screen) -> str:
        lines = [line for item in items for line in (clean(item.path), *_stored(screen, item))]
        return "\n".join([*lines, f"{plural(len(items), 'place')}; all but drafts and replicas: onrecord clean"])

    return CommandResult({"stored": [item._asdict() for item in items]}, text)


def _stored(screen: Screen, item: OwnFiles) -> Iterator[str]:
    yield fitted(screen, item.what, "  ")
    lifetime = f"deleted {item.days} days after its last change" if item.days else item.until
    yield f"  {plural(item.files, 'file')}, {readable(item.size)}, oldest of {item.oldest[:10]}; {lifetime}"


def _git(root: str) -> Iterator[Finding]:
    try:
        rule = git_files.find_ignore_rule(root)
        if rule:
            yield Finding("warning", "git", rule.sentence, rule.fix)
        elif git_files.is_clone(root):
            yield from _merge_driver(root)
    except Unwritable as error:
        yield Finding("warning", "git", error.message, error.fix)


def _merge_driver(root: str) -> Iterator[Finding]:
    driver = git_files.merge_driver(root)
    missing = git_files.missing_program(driver)
    if not driver:
        yield Finding("note", "git", "the merge driver is not set up", _REGISTER)
    elif missing:
        yield Finding("warning", "git", f"git merges records with {missing}, which does not exist", _REGISTER)


def _text(screen: Screen, findings: list[Finding], repairs: list[str]) -> str:
    lines = [f"{screen.paint('repaired', 'green')}: {clean(repair)}" for repair in repairs]
    for finding in findings:
        lines.append(labelled(screen, finding.severity, finding.what, _COLOURS[finding.severity]))
        if finding.fix:
            lines.append(labelled(screen, "fix", finding.fix, indent="  "))
    totals = {word: sum(finding.severity == word for finding in findings) for word in ("error", "warning")}
    counts = [plural(total, word) for word, total in totals.items() if total]
    return "\n".join([*lines, ", ".join(counts) or "nothing is wrong"])
