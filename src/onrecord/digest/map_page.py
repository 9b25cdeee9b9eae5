"""The map: one line for each entry, grouped by category, as many as the budget allows; and what was left out.

- never-expand: (high severity) Never use Stripe's expand; wrap Stripe calls in our library
"""

from __future__ import annotations

from onrecord.categories import CATEGORIES
from onrecord.coldstart import NamedTuple
from onrecord.digest import selection
from onrecord.text import count_tokens, cut, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onrecord.digest.selection import DigestCandidate, Pick

HEAD = (
    "On record here, one line each; a record governs what it names. If your task",
    "touches none, add nothing because of them. Before you decide, change or run",
    "what a line is about: onrecord show NAME …",
)
HEAD_OF_UPDATE = "On record since the map above was made, one line each:"
"""In place of the head, for a session that has a map."""

_BANK_HEADINGS = {"anti_pattern": "Anti-patterns", "pattern": "Patterns", "heuristic": "Heuristics"}
HEADINGS = {
    **{name: category.map_heading or name.replace("_", " ").capitalize() for name, category in CATEGORIES.items()},
    **_BANK_HEADINGS,
}

WIDTHS = (140, 110, 90, 76)
"""Characters of a rule: where not all lines have room, first each gets shorter, then there are fewer."""

_MAX_AREAS = 12
_MAX_AREA_CHARACTERS = 30
_MORE_TOKENS = 110
"""Room for the line that says what was left out."""

_MIN_IN_AREA = 2


class MapText(NamedTuple):
    """The lines of a map, and the entries in it."""

    lines: Sequence[str]
    picks: Sequence[Pick]
    left_out: int


def compose(
    all_picks: Sequence[Pick], pinned: Sequence[Pick], limit: int, tokens: int, areas: Mapping[str, int]
) -> MapText:
    """Return the map of the best entries: at most `limit` lines within `tokens`.

    `areas` counts all entries in force under an empty name, and those of each area under its name.
    """
    total = max(areas.get("", 0), len(all_picks))
    picks = selection.choose(all_picks, limit, pinned)
    lines = _fitting(picks, tokens) if len(picks) == total else []
    if lines:
        return MapText(lines, picks, 0)
    tokens -= _MORE_TOKENS
    wanted = len(picks)
    picks = _as_many(picks, tokens)
    if len(picks) < selection.MIN_BALANCED <= limit:
        picks = _as_many(selection.choose(all_picks, selection.MIN_BALANCED - 1, pinned), tokens)
    # Where some have no room, the others get the shortest lines.
    lines = _fitting(picks, tokens, WIDTHS if len(picks) == wanted else WIDTHS[-1:])
    left_out = total - len(picks)
    return MapText([*lines, *_more(picks, areas, left_out)], picks, left_out) if lines else MapText((), (), total)


def _fitting(picks: Sequence[Pick], tokens: int, widths: Sequence[int] = WIDTHS) -> list[str]:
    """Return the head and the lines of all picks, as long as they may be; empty if there is no room for all."""
    for width in widths if picks else ():
        # Most often it is far too much, and this costs less than sorting the lines.
        if _cost(_line(pick, width) for pick in picks) <= tokens:
            lines = [*HEAD, *_grouped(picks, width)]
            if _cost(lines) <= tokens:
                return lines
    return []


def _as_many(picks: Sequence[Pick], tokens: int) -> list[Pick]:
    """Return the first picks that have room, each in the shortest line and with the heading of its category."""
    tokens -= _cost(HEAD)
    fitting: list[Pick] = []
    headings: set[str] = set()
    for pick in picks:
        category = pick.candidate.category
        tokens -= _cost([_line(pick, WIDTHS[-1])])
        tokens -= 0 if category in headings else _cost([f"{HEADINGS[category]}:"])
        headings.add(category)
        if tokens < 0:
            break
        fitting.append(pick)
    return fitting


def _more(picks: Sequence[Pick], areas: Mapping[str, int], left_out: int) -> Iterator[str]:
    """Yield the line that says how many entries are not listed, and what most of them are about."""
    if left_out <= 0:
        return
    counts = {area: count for area, count in areas.items() if area}
    for pick in picks:
        for area in pick.candidate.areas:
            counts[area] = counts.get(area, 0) - 1
    most = sorted(counts, key=lambda area: (-counts[area], area))[:_MAX_AREAS]
    areas_left = [
        f"{cut(area, _MAX_AREA_CHARACTERS)} {counts[area]:,}" for area in most if counts[area] >= _MIN_IN_AREA
    ]
    about = f". Not listed, by subject: {', '.join(areas_left)}" if areas_left else ""
    yield f"{left_out:,} more: onrecord search WORDS{about}"


def _grouped(picks: Iterable[Pick], width: int) -> Iterator[str]:
    """Yield a heading and a line for each entry, the entries of one subject beside each other."""
    groups: dict[str, list[Pick]] = {}
    counts: dict[str, int] = {}
    for pick in picks:
        groups.setdefault(pick.candidate.category, []).append(pick)
        for area in pick.candidate.areas:
            counts[area] = counts.get(area, 0) + 1
    for category in selection.PRIORITY:
        group = groups.get(category, ())
        if group:
            yield f"{HEADINGS[category]}:"
        for pick in sorted(group, key=lambda pick: _place(pick.candidate, counts)):
            yield _line(pick, width)


def _place(lesson: DigestCandidate, counts: Mapping[str, int]) -> tuple[bool, str, str]:
    """Return the place of an entry in its group: marked ones first, then by the area that most entries share."""
    area = min(lesson.areas, key=lambda area: (-counts[area], area), default="~")
    return not lesson.mark.startswith(("high", "critical")), area, lesson.name


def _line(pick: Pick, width: int) -> str:
    return render_line(pick.candidate, width)


def render_line(digest_candidate: DigestCandidate, width: int = WIDTHS[0]) -> str:
    """Return the line of an entry, with a rule of at most `width` characters."""
    # What is not plain about an entry comes first, and is never cut.
    mark = f"({digest_candidate.mark}) " if digest_candidate.mark else ""
    source = f" [{digest_candidate.shared}]" if digest_candidate.shared else ""
    return f"- {digest_candidate.name}: {mark}{cut(digest_candidate.line or digest_candidate.title, width)}{source}"


def _cost(lines: Iterable[str]) -> int:
    """Return the tokens of lines as an agent gets them."""
    return sum(count_tokens(escape(line)) + 1 for line in lines)


def building_line(count: int, records: int, *, can_be_kept: bool) -> str:
    """Return the line that says that not all records are known, and whether more will be."""
    counts = f"{count:,} of {records:,} records"
    if can_be_kept:
        return f"The index is being built: {counts} are known so far, the most urgent ones first."
    return f"No index can be kept here: only {counts} are known, the most urgent ones; the reason: onrecord doctor"


def last_line(picks: Sequence[Pick], described: str, weight: float, *, is_active: bool) -> str:
    """Return the line that says how many entries there are, and whether relevance to the work decided."""
    local = sum(pick.candidate.is_local for pick in picks)
    head = f"*Memory: {len(picks)} entries ({local} local, {len(picks) - local} global) | relevance: "
    if not is_active:
        return f"{head}inactive*"
    return f'{head}active, weight={weight:g} | context: "{described[:30]}…"*'
