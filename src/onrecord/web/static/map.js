// The map: pointing at a box, or going to it by keys, lists the records about it. Without this all records are listed.
"use strict";
for (const map of document.querySelectorAll("[data-tree-map]")) {
  const list = document.querySelector("[data-map-records]");
  const title = document.querySelector("[data-map-title]");
  const whole = title?.textContent;
  const boxes = [...map.querySelectorAll(":scope > a, :scope > g")];
  const links = boxes.filter((box) => box.localName === "a");
  const mark = (box) => {
    if (!list) return;
    const numbers = box ? new Set(box.dataset.records.split(" ")) : null;
    for (const row of list.children) row.hidden = numbers !== null && !numbers.has(row.dataset.number);
    title.textContent = box ? box.querySelector("title").textContent : whole;
  };
  for (const box of boxes) {
    box.addEventListener("pointerenter", () => mark(box));
    box.addEventListener("focus", () => mark(box));
  }
  map.addEventListener("pointerleave", () => mark(null));
  // One stop for the Tab key; arrows go to the next box in their direction.
  links.forEach((link, number) => link.setAttribute("tabindex", number ? "-1" : "0"));
  const middle = (link) => {
    const box = link.querySelector("rect").getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  map.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const here = event.target.closest("a");
    if (!direction || !here) return;
    event.preventDefault();
    const [x, y] = middle(here);
    let nearest = null;
    let least = Infinity;
    for (const link of links) {
      const [otherX, otherY] = middle(link);
      const ahead = (otherX - x) * direction[0] + (otherY - y) * direction[1];
      const aside = Math.abs((otherX - x) * direction[1]) + Math.abs((otherY - y) * direction[0]);
      if (ahead > 1 && ahead + 2 * aside < least) [nearest, least] = [link, ahead + 2 * aside];
    }
    if (nearest) {
      here.setAttribute("tabindex", "-1");
      nearest.setAttribute("tabindex", "0");
      nearest.focus();
    }
  });
}
// The timeline: the text of the mark that is pointed at, or that has the focus.
const text = document.querySelector("[data-timeline-text]");
if (text) {
  // Where it is wider than the window, the newest records come first.
  const scroll = document.querySelector(".scroll:has(> .timeline)");
  scroll.scrollLeft = scroll.scrollWidth;
  const whole = text.textContent;
  for (const link of document.querySelectorAll("svg.timeline a")) {
    for (const name of ["pointerenter", "focus"]) link.addEventListener(name, () => { text.textContent = link.getAttribute("aria-label"); });
    for (const name of ["pointerleave", "blur"]) link.addEventListener(name, () => { text.textContent = whole; });
  }
}
