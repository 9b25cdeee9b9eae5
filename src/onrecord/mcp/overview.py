"""The tool that a session begins with: the map, what is unfinished, what waits for the user, and what changed last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onrecord import attention, remedy
from onrecord.attention import Need
from onrecord.digest import digest, map_page
from onrecord.digest.selection import Pick
from onrecord.mcp.tools import ToolResult
from onrecord.paths import PROJECT_PREFIX
from onrecord.project import Project
from onrecord.search import index, listing
from onrecord.search.listing import Listed, ListingFilter
from onrecord.settings import DIGEST_SWITCH, off_switches
from onrecord.text import AgentMarkup, element, fence, flat, join

_MAX_RECENT = 8
"""Records that were changed last: about a week in a store that is in use."""

_MAX_NEEDS = 8
_GIT_SECONDS = 1.0
"""Time for git to say which files have changed."""

_HEAD = "\n".join(map_page.HEAD)
_HEAD_FOR_TOOLS = _HEAD.replace("onrecord show NAME …", "show with its name as id")


def overview(project: Project) -> ToolResult:
    """Return what a session with hooks is shown when it starts, what waits for the user, and the newest changes."""
    note = project.require_a_store()
    off = "; ".join(map(str, off_switches(project.settings, DIGEST_SWITCH)))
    page = digest.DigestPage("")
    if not off:
        page = digest.make(project.root, project.store_refs, project.settings).render()
    needs = attention.needs(project, patience=_GIT_SECONDS)[:_MAX_NEEDS]
    recent = _recent(project)
    data = {
        "map": [_named(pick) for pick in page.lines],
        "unfinished": [_named(pick) for pick in page.above if digest.LEFT_OFF in pick.reason],
        "waiting": [{"title": need.title, "do": remedy.for_agent(need.command)} for need in needs],
        "recent": [_changed(record) for record in recent],
    }
    notes = " ".join(filter(None, (note, f"No map is shown: {off}." if off else "")))
    text: str = AgentMarkup(page.text.replace(_HEAD, _HEAD_FOR_TOOLS))
    for part in (_waiting_text(needs), _recent_text(recent), notes):
        text = join(text, part)
    return ToolResult({**data, **({"note": notes} if notes else {})}, text or "Nothing is on record here yet.")


def _named(pick: Pick) -> dict[str, Any]:
    entry = pick.candidate
    return {"id": entry.name, "category": entry.category, "title": entry.line or entry.title}


def _recent(project: Project) -> list[Listed]:
    """Return the records of the project's own store that were changed last."""
    roots = [store_ref.root for store_ref in project.store_refs if store_ref.prefix == PROJECT_PREFIX]
    choice = ListingFilter(order="updated")
    return [record for root in roots for record in listing.read(index.open(root), choice, _MAX_RECENT)[0]]


def _changed(listed: Listed) -> dict[str, Any]:
    return {name: getattr(listed, name) for name in ("id", "category", "title", "status", "updated_at")}


def _waiting_text(needs: Sequence[Need]) -> str:
    # In a fence: a title may quote what a repository has set.
    lines = [element("need", {"do": remedy.for_agent(need.command)}, flat(need.title)) for need in needs]
    return fence({"source": PROJECT_PREFIX, "kind": "waits for the user"}, lines) if lines else ""


def _recent_text(recent: Sequence[Listed]) -> str:
    lines = [
        element(
            "result",
            {
                "category": record.category,
                "status": "" if record.status == "active" else record.status,
                "updated": record.updated_at[:10],
                "path": record.path,
            },
            record.title,
        )
        for record in recent
    ]
    return fence({"source": PROJECT_PREFIX, "kind": "changed last"}, lines) if lines else ""
