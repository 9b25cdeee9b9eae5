"""How a digest reads: Markdown between our own marks, grouped by category, within the host's cap.

The same state gives the same bytes: the host leaves out a text that a resumed conversation has already.
"""

from __future__ import annotations

from recollect import paths
from recollect.digest.selection import HEADINGS
from recollect.text import cut, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.digest.digest import Digest
    from recollect.digest.selection import Pick
    from recollect.digest.work_context import Signals

LONGEST = 7_900
_CUTS = (420, 340, 280, 220, 160, 120)


class Page:
    """The text of a digest, what is shown in it, and what of that is shown in full."""

    __slots__ = ("full", "more", "shown", "text")

    def __init__(self, text: str, shown: list[Pick], full: list[Pick], more: int) -> None:
        self.text = text
        self.shown = shown
        self.full = full
        self.more = more


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
    lines = [f'<memory-context source="{paths.PROJECT_SOURCE}" kind="digest">', _opening(digest.signals)]
    left_off = [pick for pick in shown if pick in digest.left_off]
    urgent = [pick for pick in shown if pick in digest.urgent]
    for pick in left_off:
        lines += ["", f"**Left off:** {_entry(pick, longest)}"]
    if urgent:
        lines += ["", "### Touches the files in play"]
        lines += [f"- {_entry(pick, longest)} [{_safe(pick.reason)}]" for pick in urgent]
    for category, heading in HEADINGS.items():
        group = [
            pick
            for pick in shown
            if pick.candidate.category == category and pick not in left_off and pick not in urgent
        ]
        if group:
            lines += ["", f"### {heading}", *(f"- {_entry(pick, longest)}" for pick in group)]
    if more > 0:
        lines += ["", f"{more} more {'entry is' if more == 1 else 'entries are'} not shown: /memory:search finds them."]
    return "\n".join([*lines, "", _diagnosis(digest, shown), "</memory-context>"])


def _opening(seen: Signals) -> str:
    parts = []
    if seen.feature:
        phase = f" (last completed phase: {cut(seen.feature.phase, 60)})" if seen.feature.phase else ""
        parts.append(f"feature {cut(seen.feature.slug, 100)}{phase}")
    if seen.branch:
        parts.append(f"branch {cut(seen.branch, 100)}")
    if seen.files:
        parts.append(f"{len(seen.files)} file{'s' if len(seen.files) > 1 else ''} in play")
    about = f" ({_safe('; '.join(parts))})" if parts else ""
    return f"What is remembered for the work at hand{about}:"


def _entry(pick: Pick, longest: int) -> str:
    one = pick.candidate
    where = one.path[len(paths.PROJECT_SOURCE) :] if one.path.startswith(paths.PROJECT_SOURCE) else one.path
    # What a bank observed last may be the number of a feature: only a date says when.
    when = f", {one.updated[:10]}" if one.updated[:4].isdigit() and one.updated[:4] != "0000" else ""
    return f"{_safe(cut(one.text, longest))} ({_safe(where)}{when})"


def _diagnosis(digest: Digest, shown: list[Pick]) -> str:
    local = sum(pick.candidate.is_local for pick in shown)
    counted = f"{len(shown)} {'entry' if len(shown) == 1 else 'entries'} ({local} local, {len(shown) - local} global)"
    if digest.relevance != "active":
        return f"*Memory: {counted} | relevance: inactive*"
    about = digest.query[:30] + ("…" if len(digest.query) > 30 else "")
    return f'*Memory: {counted} | relevance: active, weight={digest.weight:g} | context: "{_safe(about)}"*'


def _safe(text: str) -> str:
    """Text that stays on its line and cannot end our block; quotation marks are harmless outside attributes."""
    return escape(text).replace("&quot;", '"')
