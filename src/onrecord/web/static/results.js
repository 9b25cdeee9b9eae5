// Search as you type, and facets without loading the page anew. The form and the links work without this.
"use strict";
const form = document.querySelector("form#search");
const field = form.querySelector("[name=q]");
const target = document.querySelector("#results");
let timer = 0;
let latest = 0;

const show = async (address, { focus = "", isNew = false } = {}) => {
  const number = ++latest;
  const part = new URL(address);
  part.searchParams.set("part", "1");
  const response = await fetch(part);
  const text = await response.text();
  if (!response.ok || number !== latest) return;
  if (isNew) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  target.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  keep(new URL(address).searchParams);
  if (focus) target.querySelector(`[data-choice="${CSS.escape(focus)}"]`)?.focus();
};

// The hidden fields of the form are what is chosen, for a search that is sent.
const keep = (params) => {
  form.querySelectorAll("input[type=hidden]").forEach((input) => input.remove());
  for (const [name, value] of params) {
    if (name === "q" || name === "page" || name === "part") continue;
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name, value });
    form.append(input);
  }
};

const typed = () => {
  const fields = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  return `${form.action}${fields.size ? `?${fields}` : ""}`;
};

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => show(typed()), 120);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  show(typed(), { isNew: true });
});
target.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  show(link.href, { focus: link.dataset.choice ?? "", isNew: true });
});
addEventListener("popstate", () => {
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  show(location.href);
});
