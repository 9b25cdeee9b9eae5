"""What somebody sees: no word is cut or broken, nothing is wider than the window, on every page, in both themes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page

from onrecord.web import static_site
from tests.web import sample, served
from tests.web.browser import in_thread, start_browser

pytestmark = [pytest.mark.debian("chromium"), pytest.mark.xdist_group("chromium")]

POSTGRES = "/record/project/decisions/sessions-live-in-postgres.json"
PAGES = [
    "/", "/search", "/search?q=login+state", "/search?q=zzzz", "/inbox", "/agent?prompt=where+do+we+keep+login+state",
    "/timeline", "/map", "/map?folder=src/booking", "/map?folder=src/auth/file_0.py", "/health?all=1", "/usage",
    "/effect", "/settings", POSTGRES, f"{POSTGRES}/edit", "/new/runbook", "/nowhere",
]  # fmt: skip
WIDTHS = (390, 768, 1440)
FAULTS = r"""() => {
  const faults = new Set();
  const root = document.scrollingElement;
  if (root.scrollWidth > window.innerWidth) faults.add(`the page is ${root.scrollWidth} wide`);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent, holder = node.parentElement;
    if (!text.trim() || holder.closest(".hidden-text, script, style, title, option, textarea, .skip")) continue;
    if (!holder.checkVisibility()) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    for (let above = holder; above && above !== document.body; above = above.parentElement) {
      const style = getComputedStyle(above);
      if (["auto", "scroll"].includes(style.overflowX)) break;
      if (above.localName === "svg" || ["hidden", "clip"].includes(style.overflowX)) {
        const edge = above.getBoundingClientRect();
        if (box.right > edge.right + 1 || box.left < edge.left - 1) faults.add(`cut: ${text.trim()}`);
      }
      if (!above.parentElement || above.parentElement === document.body) {
        if (box.right > window.innerWidth + 1 || box.left < -1) faults.add(`outside: ${text.trim()}`);
      }
    }
    const cell = holder.closest("td, th, .card, .badge, .chip, button, .button");
    if (cell && !holder.closest("svg") && box.right > cell.getBoundingClientRect().right + 1
        && !holder.closest(".scroll, .wide, pre")) {
      faults.add(`over the edge of its box: ${text.trim()}`);
    }
    if (range.getClientRects().length < 2) continue;
    for (const word of text.matchAll(/[\p{L}\p{N}]{2,}/gu)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const tops = new Set([...range.getClientRects()].map((rect) => Math.round(rect.top)));
      if (tops.size > 1) faults.add(`broken: ${word[0]}`);
    }
  }
  for (const label of document.querySelectorAll(".tree-map text")) {
    const inside = label.getBoundingClientRect();
    const box = label.parentElement.querySelector("rect").getBoundingClientRect();
    if (inside.right > box.right + 1) faults.add(`out of its box on the map: ${label.textContent}`);
  }
  return [...faults].slice(0, 8);
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with start_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project as after a year, with folders of its own for the user."""
    home = tmp_path_factory.mktemp("home")
    folders = {"CLAUDE_CONFIG_DIR": "claude", "ONRECORD_STATE_DIR": "state", "ONRECORD_CACHE_DIR": "cache"}
    with pytest.MonkeyPatch.context() as patch:
        for name, subfolder in folders.items():
            patch.setenv(name, str(home / subfolder))
        yield Path(sample.fill(tmp_path_factory.mktemp("project") / "ferry").root)


@pytest.fixture(scope="module")
def address(ferry: Path) -> Iterator[str]:
    with served.serving(ferry) as printed:
        yield printed


@pytest.fixture
def site(ferry: Path, tmp_path: Path) -> Path:
    static_site.write(str(ferry), str(tmp_path / "site"))
    return tmp_path / "site"


def _faults(page: Page, scheme: str, width: int) -> list[str]:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    return page.evaluate(FAULTS)


@in_thread
def test_no_word_is_cut_or_broken_on_any_page(chromium, address):
    page = chromium.new_context().new_page()
    page.set_default_timeout(15_000)
    page.goto(address)
    page.wait_for_url(lambda url: "token=" not in url)
    root = page.url.rstrip("/")

    faults = {}
    for path in PAGES:
        page.goto(root + path)
        for scheme in ("light", "dark"):
            for width in WIDTHS:
                faults[f"{path} {scheme} {width}"] = _faults(page, scheme, width)

    assert {where: what for where, what in faults.items() if what} == {}


@in_thread
def test_no_word_is_cut_or_broken_on_the_static_site(chromium, site):
    page = chromium.new_context().new_page()

    faults = {}
    for name in ("index", "search", "map", "timeline", "record/decisions/sessions-live-in-postgres"):
        page.goto((site / f"{name}.html").as_uri())
        for width in WIDTHS:
            faults[f"{name} {width}"] = _faults(page, "light", width)

    assert {where: what for where, what in faults.items() if what} == {}


@in_thread
def test_a_broken_word_is_noticed(chromium):
    page = chromium.new_context(viewport={"width": 390, "height": 800}).new_page()
    page.set_content("<p style='width: 4em; overflow-wrap: anywhere'>incomprehensibilities</p>")

    assert page.evaluate(FAULTS) == ["broken: incomprehensibilities"]
