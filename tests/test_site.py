"""The documentation as a site: it builds without a warning, has every page, and asks no other host for anything."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("zensical"), reason="zensical is not installed")

ROOT = Path(__file__).parents[1]
_RESOURCE = re.compile(r"<(?:script|img|iframe)[^>]* src=\"([^\"]*)\"|<link[^>]* href=\"([^\"]*)\"")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = (sys.executable, str(ROOT / "scripts" / "site"), "--into", str(folder))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return folder / "site"


def _address(page: Path) -> str:
    name = page.relative_to(ROOT / "docs").with_suffix(".html")
    return (name.with_name("index.html") if name.stem == "README" else name).as_posix()


def test_every_page_is_on_the_site_and_in_the_navigation_of_every_other(site: Path):
    addresses = [_address(page) for page in (ROOT / "docs").glob("**/*.md")]
    start = (site / "index.html").read_text(encoding="utf-8")

    assert [address for address in addresses if not (site / address).is_file()] == []
    assert [address for address in addresses if address != "index.html" and f'href="{address}"' not in start] == []


def test_every_page_has_a_search_both_themes_and_its_neighbours(site: Path):
    for page in (site / "tutorial.html", site / "how-to" / "web.html", site / "reference" / "commands.html"):
        text = page.read_text(encoding="utf-8")

        assert 'data-md-component="search"' in text
        assert {"default", "slate"} <= set(re.findall(r'data-md-color-scheme="(\w+)"', text))
        assert 'class="md-footer__link md-footer__link--prev"' in text
        assert 'class="md-footer__link md-footer__link--next"' in text


def test_no_page_loads_anything_from_another_host(site: Path):
    resources = {
        address
        for page in site.glob("**/*.html")
        for match in _RESOURCE.findall(page.read_text(encoding="utf-8"))
        for address in filter(None, match)
    }

    assert resources
    assert [address for address in resources if re.match(r"(?:[a-z]+:)?//", address)] == []
