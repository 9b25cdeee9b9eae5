// Keys of the review. Each presses a button that is on the page; without this script the buttons do all of it.
"use strict";
{
  const drafts = () => [...document.querySelectorAll("article.draft")];
  let selected = null;
  const select = (draft) => {
    if (!draft) return;
    selected = draft;
    draft.focus();
  };
  const step = (distance) => {
    const all = drafts();
    const place = all.indexOf(selected);
    select(all[Math.max(0, Math.min(place + distance, all.length - 1))]);
  };

  // Edit in place: the form of the draft takes the place of its text.
  const edit = async (draft, link) => {
    const reading = draft.querySelector("[data-reading]");
    const response = await fetch(`${link.href}&part=1`).catch(() => null);
    if (!response?.ok) return link.click();
    for (const open of document.querySelectorAll("article.draft form[data-edit]")) open.querySelector("[data-leave]")?.click();
    const form = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("form");
    const buttons = draft.querySelector(":scope > .buttons");
    reading.hidden = true;
    buttons.hidden = true;
    reading.after(form);
    const source = reading.querySelector(".beside > .stack");
    if (source?.children.length) form.querySelector(".preview").append(source.cloneNode(true));
    form.querySelector("[data-leave]").addEventListener("click", (event) => {
      event.preventDefault();
      form.remove();
      reading.hidden = false;
      buttons.hidden = false;
      draft.focus();
    });
    form.dispatchEvent(new CustomEvent("onrecord:form", { bubbles: true }));
    form.querySelector("#f-title").focus();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('article.draft a[data-key="e"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    edit(link.closest("article"), link);
  });

  const skip = (draft) => {
    const isSkipped = draft.classList.toggle("is-skipped");
    for (const field of document.querySelectorAll(`[data-of="${draft.id}"]`)) field.disabled = isSkipped;
    let note = draft.querySelector(".skipped-note");
    if (!note) {
      note = document.createElement("p");
      note.className = "facts skipped-note";
      note.setAttribute("role", "status");
      draft.querySelector(".card-head").after(note);
    }
    note.textContent = isSkipped ? "Skipped: s shows it again" : "";
  };

  let previous = "";
  document.addEventListener("keydown", (event) => {
    const isSecond = previous === "g";
    previous = event.key;
    // `g m` goes to the map, and merges nothing.
    if (isSecond || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, textarea, select, form[data-edit]")) return;
    const { key } = event;
    if (key === "j") step(1);
    else if (key === "k") step(-1);
    else if (key === "A") document.querySelector("[data-accept-shown]")?.requestSubmit();
    else if (key === "s" && selected) {
      skip(selected);
      step(1);
    } else if (/^[aemr]$/.test(key) && selected && !selected.classList.contains("is-skipped")) {
      const button = selected.querySelector(`:scope > .buttons [data-key="${key}"]`);
      if (!button) return;
      event.preventDefault();
      button.click();
    } else return;
    event.preventDefault();
  }, true);

  // Somebody else decides meanwhile: the drafts stay as they are until the page is loaded anew, and a note says so.
  const counted = (number, what) => (number ? [`${number} ${number === 1 ? "draft" : "drafts"} ${what}`] : []);
  addEventListener("onrecord:changed", async () => {
    const response = await fetch(location.href).catch(() => null);
    if (!response?.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const here = new Set(drafts().map((draft) => draft.id));
    const there = new Set([...page.querySelectorAll("article.draft")].map((draft) => draft.id));
    const gone = [...here].filter((id) => !there.has(id)).length;
    const more = [...there].filter((id) => !here.has(id)).length;
    const note = document.querySelector("[data-news]");
    note.querySelector("span").textContent = [...counted(gone, "decided on meanwhile"), ...counted(more, "new")].join(", ");
    note.hidden = !gone && !more;
  });

  for (const draft of drafts()) draft.addEventListener("focusin", () => { selected = draft; });
  // After a decision the page opens at the next draft.
  const next = document.getElementById(location.hash.slice(1));
  if (next?.matches("article.draft")) select(next);
}
