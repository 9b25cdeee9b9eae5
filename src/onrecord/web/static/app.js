// Search as you type: the form works without this.
"use strict";
for (const form of document.querySelectorAll("form[data-live]")) {
  const target = document.querySelector(form.dataset.live);
  let timer = 0;
  let latest = 0;
  const ask = async () => {
    const number = ++latest;
    const fields = new URLSearchParams(new FormData(form));
    history.replaceState(null, "", `${form.action}?${fields}`);
    fields.set("part", "1");
    const answer = await fetch(`${form.action}?${fields}`);
    const text = await answer.text();
    if (answer.ok && number === latest) {
      const page = new DOMParser().parseFromString(text, "text/html");
      target.replaceChildren(...page.body.childNodes);
      document.querySelector(".pages")?.remove();
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  });
}

// The inbox by keyboard: j and k walk through the drafts, the other keys press a button of the one that is chosen.
const drafts = [...document.querySelectorAll("article.draft")];
if (drafts.length) {
  let chosen = -1;
  const choose = (number) => {
    chosen = Math.max(0, Math.min(number, drafts.length - 1));
    drafts[chosen].focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    if (event.key === "j") choose(chosen + 1);
    else if (event.key === "k") choose(chosen - 1);
    else if (chosen >= 0) drafts[chosen].querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
}
