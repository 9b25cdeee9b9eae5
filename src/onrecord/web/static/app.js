"use strict";

// Keys in the inbox: j and k select a draft, the other keys press its buttons.
const drafts = [...document.querySelectorAll("article.draft")];
if (drafts.length) {
  let selected = -1;
  const select = (number) => {
    selected = Math.max(0, Math.min(number, drafts.length - 1));
    drafts[selected].focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    if (event.key === "j") select(selected + 1);
    else if (event.key === "k") select(selected - 1);
    else if (selected >= 0) drafts[selected].querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
}
