"""What a person types for a skill of ours: each host, and our plugin there, has a form of its own."""

from __future__ import annotations

from onrecord.hosts import connection, table
from onrecord.hosts.host_files import HostSetup

_SIGNS = {"codex": "$", "pi": "/skill:"}
"""What precedes the name of a skill; a slash in all others."""


def typed(skill: str) -> str:
    """Return what is typed for a skill in the agents that are connected here; the skill's name if none is."""
    titles: dict[str, list[str]] = {}
    for setup in table.setups():
        if (setup.reads_skills or setup.own_skills) and connection.state(setup).is_connected:
            name = _typed_in(setup, skill, is_plugin=connection.has_plugin(setup))
            titles.setdefault(name, []).append(table.BY_NAME[setup.host].title)
    if len(titles) < 2:
        return next(iter(titles), f"its skill memory-{skill}")
    return ", ".join(f"{name} in {' and '.join(hosts)}" for name, hosts in titles.items())


def _typed_in(setup: HostSetup, skill: str, *, is_plugin: bool) -> str:
    return f"{_SIGNS.get(setup.host, '/')}memory{':' if is_plugin else '-'}{skill}"
