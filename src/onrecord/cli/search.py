"""`onrecord search`: the records that answer a question, from the stores read here or from a hub."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onrecord import paths, timestamps
from onrecord.cli import arguments, record_table
from onrecord.cli.output import CommandResult, Screen, clean, wrap
from onrecord.cli.record_table import ListedPath
from onrecord.cli.terminal import Progress
from onrecord.coldstart import NamedTuple
from onrecord.errors import Offline
from onrecord.paths import StoreRef
from onrecord.project import Hit, Project, SearchResults
from onrecord.recall import trust
from onrecord.record import summary_line, validity
from onrecord.search import document, query
from onrecord.shared import remotes
from onrecord.shared.remotes import POSTGRES, Remote
from onrecord.store.store import Store

if TYPE_CHECKING:
    from onrecord.shared.hub_teams import ServerMatch

_STYLES = {"high": "green", "medium": "yellow", "low": "dim"}
_NEAREST = "Nearest, probably about something else:"
_CUT = "More records match than were compared; add a word to find the best of them."


class _Request(NamedTuple):
    """A search: its text, the maximum number of results, and the records to consider."""

    text: str
    limit: int
    categories: Sequence[str]
    tags: Sequence[str]
    include_retired: bool

    @property
    def more(self) -> str:
        """One more thing to try where nothing fits, as the end of a sentence."""
        return "" if self.include_retired else ", or --include-retired"


class _HubSearch(NamedTuple):
    """A search on a hub: its text, the name of the remote, and the team whose records the replica has."""

    text: str
    remote: str
    team: str
    hidden: Mapping[str, str] = {}
    """For each id of that team that is hidden in the project, the path of the record that hides it."""

    def path(self, server_match: ServerMatch) -> str:
        """Return the path to show: `acme:…` is in the replica, too; `acme#data:…` belongs to another team."""
        return f"{self.remote}{'' if server_match.team == self.team else f'#{server_match.team}'}:{server_match.path}"

    def hidden_by(self, server_match: ServerMatch) -> str:
        return self.hidden.get(server_match.memory.id, "") if server_match.team == self.team else ""

    def snippet(self, server_match: ServerMatch, marks: tuple[str, str] = ("", "")) -> str:
        """Return the passage that matches best, or the record's summary line if only its title or tags match."""
        parsed = query.parse(self.text)
        terms = frozenset((*parsed.terms, *parsed.names))
        return document.marked(server_match.memory, terms, marks) or summary_line.render(server_match.memory)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to look for, in your own words")
    parser.add_argument(
        "--limit", type=arguments.count(1), default=10, metavar="N", help="at most N results (default: 10)"
    )
    arguments.add(parser, "--category", "--tag")
    parser.add_argument("--include-retired", action="store_true", help="include retired and archived records")


def run(args: argparse.Namespace) -> CommandResult:
    project = Project(args.project)
    only, warning = arguments.only_store(args, project)
    categories = args.category
    request = _Request(" ".join(args.text), args.limit, categories, args.tag, args.include_retired)
    with Progress("searching"):
        try:
            result = _search_remote(remotes.get(args.remote), request, project) if args.remote else None
        except Offline as error:
            result, warning = None, f"{error.message}; searched the replica of {args.remote} instead"
        return (result or _search_stores(project, only, request, is_json=args.json)).warned(warning)


def _search_stores(
    project: Project, only: StoreRef | None, search_request: _Request, *, is_json: bool
) -> CommandResult:
    hits = project.search(
        search_request.text,
        search_request.limit,
        categories=search_request.categories,
        tags=[tag.lower() for tag in search_request.tags],
        include_retired=search_request.include_retired,
        only=only,
    )
    listed_paths = [ListedPath(paths.working_root(hit.location[0]), hit.location[1]) for hit in hits or hits.nearest]

    def lines(screen: Screen) -> str:
        head = [] if hits else [hits.note_with(search_request.more), *([_NEAREST] if hits.nearest else [])]
        results = hits or hits.nearest
        if not screen.is_terminal:
            return "\n".join([*head, *map(_hit_lines, results)])
        return "\n".join(
            [wrap(text, screen.width) for text in head]
            + list(_numbered_lines(screen, results, record_table.names(listed_paths)))
        )

    if not is_json:
        record_table.save_listing(listed_paths)
    is_accepted = all(hit.is_accepted for hit in hits or hits.nearest)
    data = {
        "query": search_request.text,
        "results": [_hit_data(hit) for hit in hits],
        "nearest": [_hit_data(hit) for hit in hits.nearest],
        "note": hits.note,
    }
    return CommandResult(data, lines, warning="" if is_accepted else trust.NOTE)


def _hit_data(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in ("id", "category", "title", "source", "path")},
        "tags": list(hit.tags),
        "score": round(hit.score, 4),
        "probability": round(hit.probability, 4),
        "confidence": hit.confidence,
        "snippet": hit.snippet(),
        "updated_at": hit.updated_at,
        "status": hit.status,
        "hidden_by": hit.hidden_by,
        "out_of_scope": hit.misfit,
        "is_accepted": hit.is_accepted,
        "via": dict(zip(("id", "title", "since"), hit.via)) if hit.via else None,
    }


def _hit_lines(hit: Hit) -> str:
    return (
        f"{clean(hit.title)}{_status(hit)}\n"
        f"  {hit.category}  {hit.confidence} {hit.probability:.2f}  {clean(hit.path)}\n    {clean(hit.snippet())}"
    )


def _numbered_lines(screen: Screen, hits: list[Hit], names: list[str]) -> Iterator[str]:
    for number, (hit, name) in enumerate(zip(hits, names), 1):
        score = screen.paint(f"{hit.confidence} {hit.probability:.2f}", _STYLES[hit.confidence])
        snippet = record_table.coloured(screen, hit.snippet(record_table.MARKS))
        yield record_table.head(screen, number, hit.title) + _status(hit)
        yield record_table.facts(hit.category, timestamps.age(hit.updated_at), name, score)
        yield wrap(snippet, screen.width, record_table.INDENT)


def _status(hit: Hit) -> str:
    status = "" if hit.status == "active" else f" [{clean(hit.status)}]"
    status += f" [{clean(hit.mark)}]" if hit.mark and hit.mark != hit.status else ""
    status += f" [hidden here by {clean(hit.hidden_by)}]" if hit.hidden_by else ""
    status += f" [does not apply here: {clean(hit.misfit)}]" if hit.misfit else ""
    return status + (f" (replaces {clean(hit.via[1])})" if hit.via else "")


def _search_remote(remote: Remote, search_request: _Request, project: Project) -> CommandResult | None:
    """Search the server of `remote`, in all teams of the login; None if it is not a hub. Raises Offline."""
    if remote.kind != POSTGRES:
        return None
    # Only this command needs the extra `hub`.
    from onrecord.shared import hub_teams

    search = _HubSearch(search_request.text, remote.name, remotes.parse_team_address(remote.url).team)
    results = hub_teams.search(
        remote.url,
        search_request.text,
        search_request.limit,
        categories=search_request.categories,
        tags=search_request.tags,
        include_retired=search_request.include_retired,
    )
    own_ids = [match.memory.id for match in results.hits if match.team == search.team]
    search = search._replace(hidden=project.hidden(Store(paths.replica(remote.name).root), own_ids))
    data = {
        "query": search_request.text,
        "results": [_match_data(search, match) for match in results.hits],
        "is_cut": results.is_cut,
    }

    def lines(screen: Screen) -> str:
        text = "\n".join(line for match in results.hits for line in _match_lines(search, match, screen))
        return text or wrap(SearchResults().note_with(search_request.more), screen.width)

    return CommandResult(data, lines, note=_CUT if results.is_cut else "")


def _match_data(search: _HubSearch, server_match: ServerMatch) -> dict[str, Any]:
    """Return `server_match` with the fields of a hit; its probability is not known."""
    record = server_match.memory
    return {
        **{name: getattr(record, name) for name in ("id", "category", "title")},
        "source": search.remote,
        "path": search.path(server_match),
        "tags": list(record.tags),
        "score": round(server_match.score, 4),
        "probability": None,
        "confidence": "",
        "snippet": search.snippet(server_match),
        "updated_at": record.updated_at,
        "status": validity.status_of(record, is_replaced=bool(record.superseded_by)),
        "hidden_by": search.hidden_by(server_match),
        "out_of_scope": "",
        "is_accepted": True,
        "via": None,
        "team": server_match.team,
        "has_all_words": server_match.has_all,
    }


def _match_lines(search: _HubSearch, server_match: ServerMatch, screen: Screen) -> Iterator[str]:
    record, path = server_match.memory, clean(search.path(server_match))
    hidden = f" [hidden here by {clean(search.hidden_by(server_match))}]" if search.hidden_by(server_match) else ""
    if not screen.is_terminal:
        yield f"{clean(record.title)}{hidden}\n  {record.category}  {path}\n    {clean(search.snippet(server_match))}"
        return
    yield screen.paint(clean(record.title), "bold") + hidden
    yield record_table.facts(record.category, timestamps.age(record.updated_at), path)
    snippet = record_table.coloured(screen, search.snippet(server_match, record_table.MARKS))
    yield wrap(snippet, screen.width, record_table.INDENT)
