"""A draft as a person decides on it: what agents will be shown first, and no more than fits on the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from onrecord.capture import review, similar
from onrecord.capture.review import PassageLine
from onrecord.categories import CATEGORIES
from onrecord.cli import form_file
from onrecord.cli.output import Screen, clean, clean_lines, fit, rows_of, width_of, wrap
from onrecord.cli.show import page
from onrecord.coldstart import NamedTuple
from onrecord.errors import OnrecordError
from onrecord.record import summary_line
from onrecord.record.drafts import Draft
from onrecord.record.memory import Memory
from onrecord.record.naming import remove_invisible
from onrecord.store.inbox import BrokenDraft
from onrecord.store.store import Entry
from onrecord.store.writer import Writer

_OTHER_LINES = 4
"""Lines of the terminal that are not for the page: its number, the question, and one to spare around them."""

_MAX_QUOTES = 2


class DraftPage(NamedTuple):
    """The lines that a person needs to decide on a draft, the most important first."""

    lines: tuple[str, ...]
    screen: Screen

    @property
    def whole(self) -> str:
        return "\n".join(self.lines)

    @property
    def fitted(self) -> str:
        """The page cut to the height of the terminal; the last line says how to see the rest."""
        if not self.screen.is_terminal:
            return self.whole
        room = max(shutil.get_terminal_size().lines - _OTHER_LINES, 8)
        rows = [rows_of(line, self.screen) for line in self.lines]
        if sum(rows) <= room:
            return self.whole
        shown = 0
        while sum(rows[: shown + 1]) < room:
            shown += 1
        left = sum(rows[shown:])
        return "\n".join((*self.lines[:shown], self.screen.paint(f"… {left} more lines: press v", "dim")))


def draft_page(writer: Writer, draft: Draft | BrokenDraft, screen: Screen) -> DraftPage:
    """Return what a person needs to decide on a draft."""
    if isinstance(draft, BrokenDraft):
        return DraftPage((f"cannot be read: {clean(draft.error.message)}",), screen)
    is_revision = bool(draft.revises) and writer.store.has(draft.updates)
    lines = _revision_lines(writer, draft, screen) if is_revision else _record_lines(writer, draft, screen)
    return DraftPage(tuple(line for text in lines for line in text.split("\n")), screen)


def difference(writer: Writer, draft: Draft, screen: Screen, into: str = "") -> str:
    """Return the changes that a draft makes to the record `into`, by default the one it updates; empty without one."""
    target = into or draft.updates
    if not target or not writer.store.has(target):
        return ""
    try:
        before, after = review.preview(writer, draft, into)
    except OnrecordError as error:
        return f"cannot be applied: {clean(error.message)}"
    return form_file.render_difference(before, after, screen) or "The record already says all of it."


def source_text(draft: Draft, project: str, screen: Screen) -> str:
    """Return what a draft was made from: a passage of a file, in bold what the draft has of it, or what was said."""
    passage = review.source_passage(project, draft.record)
    if passage:
        lines = (_painted(line, screen) for line in passage.lines)
        shown = [passage.flaw] if passage.flaw else list(lines)
    else:
        evidence = "\n".join(draft.evidence)
        shown = clean_lines(evidence if evidence not in draft.record.source else "")
    return "\n".join((screen.paint(clean(draft.record.source), "bold"), *shown))


def _painted(passage_line: PassageLine, screen: Screen) -> str:
    text = remove_invisible(passage_line.text)
    return screen.paint(text, "bold") if passage_line.is_marked else text


def _record_lines(writer: Writer, draft: Draft, screen: Screen) -> Iterator[str]:
    # The quotations follow the page, so the source need not repeat them.
    record = draft.record._replace(source="") if draft.evidence else draft.record
    changes = difference(writer, draft, screen)
    beneath = [*_shown_line(_after(writer, draft), screen), *_warnings(writer, draft, screen)]
    if changes:
        beneath += [f"changes {clean(draft.updates)}:", changes]
    yield page(
        Entry(record, f"inbox/{draft.name}.json", ""),
        screen,
        status="draft",
        beneath=beneath,
        first_field=CATEGORIES[record.category].statement,
    )


def _revision_lines(writer: Writer, draft: Draft, screen: Screen) -> Iterator[str]:
    """Yield only the changes that a draft makes to the record it revises."""
    entry = writer.store.get(draft.updates)
    yield screen.paint(clean(entry.memory.title), "bold")
    yield f"a draft that changes {entry.path}"
    if entry.hash != draft.revises:
        yield screen.paint("the record was changed since: merge puts the draft into it, accept is refused", "yellow")
    yield from _shown_line(_after(writer, draft), screen)
    if draft.summary:
        yield f"{screen.paint('why', 'cyan')}: {clean(draft.summary)}"
    yield difference(writer, draft, screen)


def _after(writer: Writer, draft: Draft) -> Memory:
    """Return the record as it will be when the draft is accepted."""
    if not draft.updates or not writer.store.has(draft.updates):
        return draft.record
    try:
        return review.preview(writer, draft)[1]
    except OnrecordError:
        return draft.record


def _shown_line(record: Memory, screen: Screen) -> Iterator[str]:
    """Yield the line that agents will be shown of a record."""
    line = clean(summary_line.render(record))
    yield screen.paint("agents will be shown", "cyan")
    yield wrap(line, screen.width, "  ") if screen.is_terminal else f"  {line}"


def _warnings(writer: Writer, draft: Draft, screen: Screen) -> Iterator[str]:
    """Yield what may speak against a draft, and the words that it was made from, a line each."""
    for match in similar.find(writer.store, draft.record):
        word = "says nearly the same" if match.is_same else "similar"
        yield _line(screen, word, f"{match.entry.path} ({clean(match.memory.title)})", "yellow")
    if draft.replaces:
        yield screen.paint(f"it would replace {clean(draft.replaces)}", "yellow")
    if draft.note:
        yield _line(screen, "note", clean(draft.note), "yellow")
    if draft.is_machine_made:
        yield screen.paint("drafted by onrecord from the transcript, not by an agent", "yellow")
    for quote in draft.evidence[:_MAX_QUOTES] if screen.is_terminal else draft.evidence:
        yield _line(screen, "said", clean(quote), "cyan")


def _line(screen: Screen, label: str, text: str, colour: str) -> str:
    room = screen.width - width_of(label) - 2
    return f"{screen.paint(label, colour)}: {fit(text, room) if screen.is_terminal else text}"
