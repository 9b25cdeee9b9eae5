"""The static site: read-only, self-contained, and without private data."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from onrecord.errors import BadInput, UnsafePath
from onrecord.usage import usage_log
from onrecord.web import static_site
from tests.git_project import GitProject

HOSTILE = '</script><script>alert("x")</script> href="/search"'


@pytest.fixture
def site(project, save, draft, tmp_path) -> Path:
    entry = save(tags=["auth"], related_files=[])
    save(HOSTILE + " title")
    retired = save("Cache in memory")
    project.writer.retire(retired.path, "too little room")
    draft("A private draft")
    usage_log.append(project.store.root, [("injected", entry.path)])
    static_site.write(project.root, str(tmp_path / "site"))
    return tmp_path / "site"


def _files(site: Path) -> dict[str, str]:
    return {str(file.relative_to(site)): file.read_text() for file in site.rglob("*") if file.is_file()}


def test_every_link_leads_to_a_file_of_the_site(site):
    for name, text in _files(site).items():
        for link in re.findall(r'(?:href|src)="([^"]*)"', text) if name.endswith(".html") else ():
            target = link.split("?")[0].split("#")[0]
            assert not target.startswith("/") and "://" not in target, (name, link)
            assert not target or os.path.exists(os.path.join(site, os.path.dirname(name), target)), (name, link)


def test_it_shows_the_records_and_nothing_private(site):
    files = _files(site)
    everything = "\n".join(files.values())

    assert "Rows in auth.sessions" in files["record/decisions/sessions-live-in-postgres.html"]
    assert "too little room" in files["record/decisions/cache-in-memory.html"]
    assert "A private draft" not in everything
    assert ">Usage<" not in everything and "form_token" not in everything
    assert "<form method" not in everything and "/inbox" not in everything


def test_what_agents_were_corrected_with_is_not_published(project, save, tmp_path):
    """The map of the site had it, from the log of the machine that wrote the site."""
    repository = GitProject(Path(project.root))
    repository.write("login.py", "EXPIRY = 14\n")
    repository.commit()
    entry = save(related_files=["login.py"])
    usage_log.append(project.store.root, [("corrected", entry.path)])

    static_site.write(project.root, str(tmp_path / "site"))

    assert not [name for name, text in _files(tmp_path / "site").items() if "agent was corrected" in text]


def test_lines_of_the_projects_files_are_not_published(project, save, tmp_path):
    repository = GitProject(Path(project.root))
    repository.write("login.py", "EXPIRY = 14\n")
    repository.commit()
    save(related_files=["login.py"])
    repository.write("login.py", "EXPIRY = 'not committed'\n")

    static_site.write(project.root, str(tmp_path / "site"))

    assert "not committed" not in "\n".join(_files(tmp_path / "site").values())


def test_a_link_with_a_tag_searches_for_all_of_the_tag(project, save, tmp_path):
    """A plus in an address is a space, and what follows an ampersand is another field."""
    save(tags=["c++", "r&d"], related_files=[])
    static_site.write(project.root, str(tmp_path / "site"))

    text = (tmp_path / "site" / "map.html").read_text()

    assert re.findall(r'href="search\.html\?q=([^"]*)"', text) == ["c%2B%2B", "r%26d"]


def test_hostile_text_is_text(site):
    files = _files(site)

    assert any("alert" in text for text in files.values())
    for name, text in files.items():
        assert "<script>alert" not in text and "</script><" not in text.replace("</script>\n<", ""), name
    rows = json.loads(files["static/records.js"].removeprefix("var records = ").rstrip().removesuffix(";"))
    assert [row[0] for row in rows if "alert" in row[0]]


def test_a_record_that_is_gone_leaves_no_page(site, project):
    os.remove(os.path.join(project.store.root, project.get("sessions-live-in-postgres").path))

    static_site.write(project.root, str(site))

    assert "record/decisions/sessions-live-in-postgres.html" not in _files(site)
    assert "Sessions live in Postgres" not in "\n".join(_files(site).values())


@pytest.mark.parametrize("link", ["static", "record", "index.html", ".onrecord-site"])
def test_no_link_in_the_folder_leads_out_of_it(project, save, tmp_path, link):
    """The folder may be one of a repository."""
    save()
    folder, outside = tmp_path / "site", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / ".onrecord-site").write_text("[]")
    target = outside / "file" if "." in link else outside
    (outside / "file").write_text("mine")
    (outside / "app.css").write_text("mine")
    (folder / link).unlink(missing_ok=True)
    (folder / link).symlink_to(target)

    with pytest.raises(UnsafePath):
        static_site.write(project.root, str(folder))

    assert {file.name: file.read_text() for file in outside.iterdir()} == {"file": "mine", "app.css": "mine"}


def test_a_site_that_was_not_finished_is_written_again(project, save, tmp_path):
    save()

    def interrupt(records):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        static_site.write(project.root, str(tmp_path / "site"), interrupt)

    assert static_site.write(project.root, str(tmp_path / "site")) == 1


def test_a_folder_with_other_files_is_left_alone(project, save, tmp_path):
    save()
    (tmp_path / "mine.txt").write_text("x")

    with pytest.raises(BadInput, match="not part of such a site"):
        static_site.write(project.root, str(tmp_path))
