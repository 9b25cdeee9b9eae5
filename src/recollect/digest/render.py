"""How a digest reads: Markdown between our own marks, grouped by category, within the host's limit.

The same state gives the same bytes: the host leaves out a text that a resumed conversation has already.
"""

from __future__ import annotations

from recollect import paths
from recollect.coldstart import NamedTuple
from recollect.digest.selection import HEADINGS
from recollect.text import cut, fence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.digest.digest import Digest
    from recollect.digest.selection import Pick
    from recollect.digest.work_context import WorkContext

LONGEST = 7_900
"""Characters of a page: a little less than the 8,000 that may be injected."""

_CUTS = (420, 340, 280, 220, 160, 120)
"""Most characters of an entry, tried in this order until the page fits."""


class Page(NamedTuple):
    """The text of a digest, what is shown in it, what of that is shown in full, and how many entries are not shown."""

    text: str
    shown: list[Pick]
    full: list[Pick]
    more: int


def render(digest: Digest) -> Page:
    """The page; an empty text if nothing is to be shown. Entries are cut before any is left out."""
    shown = digest.picks
    if not shown:
        return Page("", [], [], digest.more)
    for longest in _CUTS:
        text = _text(digest, shown, longest, digest.more)
        if len(text) <= LONGEST:
            break
    while len(text) > LONGEST and len(shown) > 1:
        shown = shown[:-1]
        text = _text(digest, shown, longest, digest.more + len(digest.picks) - len(shown))
    full = [pick for pick in shown if len(pick.candidate.text) <= longest]
    return Page(text, shown, full, digest.more + len(digest.picks) - len(shown))


def _text(digest: Digest, shown: list[Pick], longest: int, more: int) -> str:
    lines = [_opening(digest.context)]
    left_off = [pick for pick in shown if pick in digest.left_off]
    urgent = [pick for pick in shown if pick in digest.urgent]
    others = [pick for pick in shown if pick not in left_off and pick not in urgent]
    for pick in left_off:
        lines += ["", f"**Left off:** {_entry(pick, longest)}"]
    if urgent:
        lines += ["", "### About the changed files"]
        lines += [f"- {_entry(pick, longest)} [{pick.reason}]" for pick in urgent]
    for category, heading in HEADINGS.items():
        group = [pick for pick in others if pick.candidate.category == category]
        if group:
            lines += ["", f"### {heading}", *(f"- {_entry(pick, longest)}" for pick in group)]
    if more > 0:
        lines += ["", f"{more} more {'entry is' if more == 1 else 'entries are'} not shown: /memory:search finds them."]
    attributes = {"source": paths.PROJECT_SOURCE, "kind": "digest"}
    return fence(attributes, [*lines, "", _diagnosis(digest, shown)])


def _opening(context: WorkContext) -> str:
    parts = []
    if context.feature:
        phase = f" (last completed phase: {cut(context.feature.phase, 60)})" if context.feature.phase else ""
        parts.append(f"feature {cut(context.feature.slug, 100)}{phase}")
    if context.branch:
        parts.append(f"branch {cut(context.branch, 100)}")
    work = f" for {', '.join(parts)}" if parts else ""
    count = len(context.files)
    changed = f" ({count} changed file{'s' if count > 1 else ''})" if count else ""
    return f"Project memory{work}{changed}:"


def _entry(pick: Pick, longest: int) -> str:
    entry = pick.candidate
    where = entry.path[len(paths.PROJECT_SOURCE) :] if entry.path.startswith(paths.PROJECT_SOURCE) else entry.path
    # What a bank observed last may be the number of a feature: only a date says when.
    when = f", {entry.updated[:10]}" if entry.updated[:4].isdigit() and entry.updated[:4] != "0000" else ""
    return f"{cut(entry.text, longest)} ({where}{when})"


def _diagnosis(digest: Digest, shown: list[Pick]) -> str:
    local = sum(pick.candidate.is_local for pick in shown)
    counted = f"{len(shown)} {'entry' if len(shown) == 1 else 'entries'} ({local} local, {len(shown) - local} global)"
    if digest.relevance != "active":
        return f"*Memory: {counted} | relevance: inactive*"
    about = digest.context.query[:30] + ("…" if len(digest.context.query) > 30 else "")
    return f'*Memory: {counted} | relevance: active, weight={digest.weight:g} | context: "{about}"*'
