// Search as you type: the form works without this.
"use strict";
for (const form of document.querySelectorAll("form[data-live]")) {
  const target = document.querySelector(form.dataset.live);
  let timer = 0;
  let latest = 0;
  const search = async () => {
    const number = ++latest;
    const fields = new URLSearchParams(new FormData(form));
    history.replaceState(null, "", `${form.action}?${fields}`);
    fields.set("part", "1");
    const response = await fetch(`${form.action}?${fields}`);
    const text = await response.text();
    if (response.ok && number === latest) {
      const page = new DOMParser().parseFromString(text, "text/html");
      target.replaceChildren(...page.body.childNodes);
      document.querySelector(".pages")?.remove();
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 120);
  });
}

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
