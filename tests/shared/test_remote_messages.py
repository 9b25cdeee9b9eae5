"""What is wrong with a name, an address or the list of remotes, in whole sentences, at both sides of each limit."""

from __future__ import annotations

import json
import os

import pytest

from onrecord import paths
from onrecord.errors import AlreadyExists, BadInput, NotFound
from onrecord.shared import remotes
from onrecord.shared.remotes import Remote, TeamAddress

EXAMPLES = "such as git@host:team/memory.git, https://host/team/memory.git, /srv/memory.git or postgresql://host/memory"
GIVE = f"give one {EXAMPLES}"
HOST = "a host must not begin with a hyphen: programs would take it for an option"
SECRET = "the address contains a password, and it would be stored in plain text"
GIT_FIX = "leave it out; git asks its credential helper or uses an SSH key"
PG_FIX = "leave it out and put it into ~/.pgpass, a service file, or PGPASSWORD"


@pytest.mark.parametrize(
    ("url", "message", "fix"),
    [
        ("", "an address has 1 to 2000 printable characters", GIVE),
        ("/" + "x" * 2_000, "an address has 1 to 2000 printable characters", GIVE),
        ("-x", "an address must not begin with a hyphen: programs would take it for an option", EXAMPLES),
        ("ext::x", "an address of the form NAME::… makes git run a program",
         f"give the repository's own address, {EXAMPLES}"),
        (f"{'x' * 50}://h", f"'{'x' * 40}' is not a scheme of a shared store's address", GIVE),
        ("x" * 90, f"'{'x' * 80}' is not an address of a shared store", GIVE),
        ("host:", "'host:' is not an address of a shared store", GIVE),
        ("a/b:c", "'a/b:c' is not an address of a shared store", GIVE),
        ("host:-x", "a path must not begin with a hyphen: programs would take it for an option", EXAMPLES),
        ("-h@host:x", "an address must not begin with a hyphen: programs would take it for an option", EXAMPLES),
        ("ann@-h:x", HOST, EXAMPLES),
        ("ssh://-h/x", HOST, EXAMPLES),
        ("https://a:b@h/x", SECRET, GIT_FIX),
        ("postgres://a:b@h/x", SECRET, PG_FIX),
        ("postgresql://h/x?sslmode=a&sslpassword=b", SECRET, PG_FIX),
        ("postgresql://h/x?oauth_client_secret=b", SECRET, PG_FIX),
        ("postgresql://h/x?%70assword=b", SECRET, PG_FIX),
        ("postgresql://h/x?%50%41SSWORD%20=b", SECRET, PG_FIX),
        ("postgresql://h:5432,g:abc/x", SECRET, PG_FIX),
        (f"https://{'a1' * 10}@h/x", SECRET, GIT_FIX),
    ],
)  # fmt: skip
def test_an_address_that_is_refused_is_explained(url, message, fix):
    with pytest.raises(BadInput) as caught:
        remotes.address_kind(url)

    assert (caught.value.message, caught.value.fix) == (message, fix)


@pytest.mark.parametrize(
    "url",
    [
        "/" + "x" * 1_999, f"https://{'a1' * 9}a@h/x", f"https://{'a' * 20}@h/x", f"https://{'1' * 20}@h/x",
        f"postgresql://{'a1' * 10}@h/x", "postgresql://h/x?%zz=b", "postgresql://h/x?%7=b", "git://h/x", "http://h/x",
        "postgresql://ann.smith%40example.org@h:1/x?application_name=a:b",
    ],
)  # fmt: skip
def test_an_address_at_the_limit_is_allowed(url):
    assert remotes.address_kind(url) == ("postgres" if url.startswith("postgres") else "git")


@pytest.mark.parametrize("name", ["x" * 40, "a", "0", "a-", "platform-2"])
def test_a_name_of_letters_digits_and_hyphens_is_allowed(name):
    remotes.refuse_name(name)
    remotes.refuse_team(name)

    assert remotes.is_name(name)


@pytest.mark.parametrize("name", ["", "x" * 41, "-a", "A", "a_b", "x" * 100])
def test_any_other_name_is_refused_and_shown_in_part(name):
    with pytest.raises(BadInput) as caught:
        remotes.refuse_name(name)
    assert (caught.value.message, caught.value.fix) == (
        f"{name[:80]!r} is not a name of 1 to 40 lower-case letters, digits and hyphens",
        "use the letters a to z, digits and hyphens, such as platform",
    )
    with pytest.raises(BadInput) as caught:
        remotes.refuse_team(name)
    assert (caught.value.message, caught.value.fix) == (
        f"{name[:80]!r} is not a name of 1 to 40 letters, digits and hyphens", "choose one such as platform",
    )  # fmt: skip
    assert not remotes.is_name(name)


def test_a_name_is_a_text_and_none_with_another_meaning():
    assert [remotes.is_name(value) for value in (7, None, "project", "user", "none", "team")] == [False] * 5 + [True]


def test_the_address_of_a_team_names_a_database_and_a_team():
    assert remotes.parse_team_address("postgresql://h/memory#platform") == TeamAddress(
        "postgresql://h/memory", "platform"
    )
    assert remotes.parse_team_address("postgresql://h/memory") == TeamAddress("postgresql://h/memory", "default")
    with pytest.raises(BadInput) as caught:
        remotes.parse_team_address("https://h/memory#platform")
    assert (caught.value.message, caught.value.fix) == (
        "this is not the address of a Postgres database", "give one such as postgresql://ann@db.example.org/memory#platform",
    )  # fmt: skip


def write(text: str) -> None:
    os.makedirs(paths.user_store(), exist_ok=True)
    with open(paths.remotes_file(), "w", encoding="utf-8") as file:
        file.write(text)


def entries(count: int) -> str:
    return json.dumps([{"name": f"x{number}", "url": f"/srv/{number}"} for number in range(count)])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" " * 1_000_001, "is larger than 1,000,000 bytes"),
        ("{}", "must be a list of at most 100 remotes"),
        (entries(101), "must be a list of at most 100 remotes"),
        ('[{"name": "a", "url": "/a"}, 7]', "entry 2 is not an object"),
        ('[{"name": "A", "url": "/a"}]', "entry 1 has no usable name"),
        ('[{"url": "/a"}]', "entry 1 has no usable name"),
        ('[{"name": "a", "url": 7}]', "entry 1 (a) has no url"),
        ('[{"name": "a", "url": "/a", "review": 1}]', "entry 1 (a): review and auto must be true or false"),
        ('[{"name": "a", "url": "/a", "auto": null}]', "entry 1 (a): review and auto must be true or false"),
        ('[{"name": "a", "url": "ftp://a"}]', "entry 1 (a): 'ftp' is not a scheme of a shared store's address"),
        ('[{"name": "a", "url": "/a", "kind": "postgres"}]', "entry 1 (a): its url is one of git"),
        ('[{"name": "a", "url": "/a"}, {"name": "a", "url": "/b"}]', "names one remote twice"),
    ],
)
def test_a_list_that_is_refused_is_explained(text, reason):
    write(text)

    with pytest.raises(BadInput) as caught:
        remotes.connected()

    file = paths.remotes_file()
    assert caught.value.message == f"{file}: {reason}"
    assert caught.value.fix == f"correct {file}, or delete it and connect the remotes again"


def test_a_list_of_a_hundred_remotes_is_full_and_one_of_a_million_bytes_is_read():
    write(entries(100).ljust(1_000_000))
    assert len(remotes.connected()) == 100

    with pytest.raises(BadInput) as caught:
        remotes.add("platform", "/srv/memory.git")

    assert (caught.value.message, caught.value.fix) == (
        "100 remotes are connected", "onrecord remote list; remove one that you do not use",
    )  # fmt: skip
    remotes.remove("x7")
    assert remotes.add("platform", "/srv/memory.git") in remotes.connected()


def test_the_list_is_written_whole_and_read_with_a_mark_at_its_start():
    remotes.add("ol", "/srv/öl.git", review=True)
    remotes.add("a", "postgresql://h/m", auto=True)

    with open(paths.remotes_file(), encoding="utf-8") as file:
        text = file.read()
    write(f"\ufeff{text}")

    assert json.loads(text) == [
        {"name": "a", "url": "postgresql://h/m", "kind": "postgres", "review": False, "auto": True},
        {"name": "ol", "url": "/srv/öl.git", "kind": "git", "review": True, "auto": False},
    ]
    assert (text.startswith('[\n  {\n    "name"'), "öl" in text, text.endswith("]\n")) == (True, True, True)
    assert remotes.connected()[0] == Remote("a", "postgresql://h/m", "postgres", review=False, auto=True)


def test_a_remote_that_is_there_or_not_is_named_with_what_to_do():
    with pytest.raises(NotFound) as missing:
        remotes.get("x" * 90)
    assert (missing.value.message, missing.value.fix) == (
        f"no remote '{'x' * 80}' is connected (none is connected)", "connect one: `onrecord remote add NAME URL`",
    )  # fmt: skip
    remotes.add("b", "/srv/b.git")
    remotes.add("a", "/srv/a.git")

    with pytest.raises(NotFound) as missing:
        remotes.remove("c")
    with pytest.raises(AlreadyExists) as twice:
        remotes.add("a", "/srv/c.git")
    with pytest.raises(AlreadyExists) as same:
        remotes.add("c", "/srv/b.git")

    assert [(caught.value.message, caught.value.fix) for caught in (missing, twice, same)] == [
        ("no remote 'c' is connected (connected: a, b)", "onrecord remote list"),
        ("a remote 'a' is connected already", "choose another name; onrecord remote list"),
        ("this address is connected already, as 'b'", "onrecord remote status b"),
    ]


@pytest.mark.parametrize(
    ("url", "is_path"),
    [("./m.git", True), ("../m.git", True), ("team/m.git", True), ("~/m.git", True), ("m.git", False),
     ("host:m.git", False), ("https://h/m.git", False), ("host:team/m.git", False)],
)  # fmt: skip
def test_a_relative_path_is_made_absolute_and_nothing_else(url, is_path):
    whole = os.path.abspath(os.path.expanduser(url))

    assert remotes.absolute_address(url) == (whole if is_path else url)


def test_a_list_within_the_project_is_planted_and_one_in_the_home_folder_is_not(home, tmp_path):
    parent = os.path.dirname(os.path.dirname(paths.user_store()))

    assert os.path.realpath(parent) == os.path.realpath(str(home))
    assert remotes.is_planted(os.path.join(parent, ".claude")) is True
    assert [remotes.is_planted(project) for project in (parent, "", str(tmp_path / "project"))] == [False] * 3
