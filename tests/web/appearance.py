"""What can be wrong with the look of a page: words that are cut or broken, and rules of accessibility."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDTHS = (360, 768, 1440)
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
  const titles = [...document.querySelectorAll(".timeline .mark-title")]
    .map((title) => [title.getBoundingClientRect(), title.textContent]);
  titles.forEach(([one, text], number) => {
    for (const [other, words] of titles.slice(number + 1)) {
      if (one.left < other.right && other.left < one.right && one.top < other.bottom - 1 && other.top < one.bottom - 1)
        faults.add(`on each other: ${text} / ${words}`);
    }
  });
  return [...faults].slice(0, 8);
}"""

_RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}


def faults(page: Page) -> dict[str, list[str]]:
    """Return what is wrong on the present page: with its words at all widths, with its colours in both themes."""
    found: dict[str, list[str]] = {}
    size = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        words = page.evaluate(FAULTS)
        found.update({str(width): words} if words else {})
    for scheme in ("light", "dark"):
        # A colour that is still changing would be measured.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        result = Axe().run(page, options=_RULES).response
        assert result["passes"]
        for violation in result["violations"]:
            found[f"{scheme} {violation['id']}"] = [node["html"][:200] for node in violation["nodes"][:3]]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(size)
    return found
