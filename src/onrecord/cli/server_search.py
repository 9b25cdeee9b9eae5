"""`onrecord search --remote NAME` where NAME is a hub: its server searches the records of all teams of the login."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onrecord import paths, timestamps
from onrecord.cli import record_table
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.coldstart import NamedTuple
from onrecord.project import Project
from onrecord.record import summary_line
from onrecord.search import document, query
from onrecord.shared import remotes
from onrecord.shared.remotes import POSTGRES
from onrecord.store.store import Store

if TYPE_CHECKING:
    from onrecord.shared.hub_search import ServerMatch

_CUT = "More records match than were compared: with one more word the best are found."


class _Asked(NamedTuple):
    """What was asked: the text, the name of the remote, and the team that its replica belongs to."""

    text: str
    remote: str
    team: str
    hidden: Mapping[str, str] = {}
    """For the ids of that team that are hidden in the project, the path of the record that hides them."""

    def path(self, hit: ServerMatch) -> str:
        """A path as it is shown: `acme:…` is in the replica, too; `acme#data:…` is of another team."""
        return f"{self.remote}{'' if hit.team == self.team else f'#{hit.team}'}:{hit.path}"

    def hidden_by(self, hit: ServerMatch) -> str:
        return self.hidden.get(hit.memory.id, "") if hit.team == self.team else ""

    def snippet(self, hit: ServerMatch, mark: tuple[str, str] = ("", "")) -> str:
        """The passage that matches best; what the record says in a line, if only its title or tags match."""
        terms = frozenset(query.parse(self.text).terms)
        return document.marked(hit.memory, terms, mark) or summary_line.render(hit.memory)


class Wanted(NamedTuple):
    """A search: its text, at most how many results, and of which records."""

    text: str
    limit: int
    categories: Sequence[str]
    tags: Sequence[str]
    include_retired: bool


def answer(name: str, wanted: Wanted, project: Project) -> CommandResult | None:
    """Return what the server of a remote finds; None if the remote has no server. Raises Offline."""
    chosen = remotes.get(name)
    if chosen.kind != POSTGRES:
        return None
    # Only this command needs the extra `hub`.
    from onrecord.shared import hub_search

    asked = _Asked(wanted.text, chosen.name, remotes.parse_team_address(chosen.url).team)
    results = hub_search.find(
        chosen.url,
        asked.text,
        wanted.limit,
        categories=wanted.categories,
        tags=wanted.tags,
        include_retired=wanted.include_retired,
    )
    own = [hit.memory.id for hit in results.hits if hit.team == asked.team]
    asked = asked._replace(hidden=project.hidden(Store(paths.replica(chosen.name).root), own))
    data = {"query": asked.text, "results": [_data(asked, hit) for hit in results.hits], "is_cut": results.is_cut}

    def lines(screen: Screen) -> str:
        text = "\n".join(line for hit in results.hits for line in _lines(asked, hit, screen))
        return text or (record_table.NOTHING if screen.is_terminal else "")

    return CommandResult(data, lines, note=_CUT if results.is_cut else "")


def _data(asked: _Asked, hit: ServerMatch) -> dict[str, Any]:
    """A match in the form of any search; how probably it answers the question is not known."""
    record = hit.memory
    return {
        **{name: getattr(record, name) for name in ("id", "category", "title")},
        "source": asked.remote,
        "path": asked.path(hit),
        "tags": list(record.tags),
        "score": round(hit.score, 4),
        "probability": None,
        "confidence": "",
        "snippet": asked.snippet(hit),
        "updated_at": record.updated_at,
        "status": "superseded" if record.superseded_by else record.record_status,
        "hidden_by": asked.hidden_by(hit),
        "via": None,
        "team": hit.team,
        "has_all_words": hit.has_all,
    }


def _lines(asked: _Asked, hit: ServerMatch, screen: Screen) -> Iterator[str]:
    record, path = hit.memory, clean(asked.path(hit))
    hidden = f" [hidden here by {clean(asked.hidden_by(hit))}]" if asked.hidden_by(hit) else ""
    if not screen.is_terminal:
        yield f"{clean(record.title)}{hidden}\n  {record.category}  {path}\n    {clean(asked.snippet(hit))}"
        return
    yield screen.paint(clean(record.title), "bold") + hidden
    yield record_table.facts(record.category, timestamps.age(record.updated_at), path)
    snippet = record_table.coloured(screen, asked.snippet(hit, record_table.MARKS))
    yield wrap(snippet, screen.width, record_table.INDENT)
