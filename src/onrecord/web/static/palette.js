// The command palette: Ctrl-K or / anywhere; records, pages and actions; arrows, Enter, Escape; ? for the keys.
// Everything in it is on the pages, too: without this script nothing is missing but the keys.
"use strict";
{
  const form = document.querySelector(".side-search");
  const home = document.querySelector(".brand").getAttribute("href");
  const pages = [...document.querySelectorAll(".side nav a")].map((link) => ({
    title: link.firstChild.nextSibling.textContent.trim(), kind: "page", address: link.getAttribute("href"),
  }));
  const actions = ["decision", "constraint", "preference", "runbook", "tech_debt", "session_summary"].map((name) => ({
    title: `New ${name.replace("_", " ")}`, kind: "action", address: `${home}new/${name}`,
  }));
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const badge = (store) => {
    const kind = ["project", "user"].includes(store) ? store : "shared";
    return make("span", { class: `badge store-${kind}` }, store === "user" ? "personal" : store);
  };
  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const fits = (item, query) =>
    words(query).every((word) => words(item.title).some((other) => other.startsWith(word)));

  const list = make("ul", { role: "listbox", id: "palette-list", "aria-label": "Results" });
  const field = make("input", {
    type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list",
    "aria-label": "Search records, pages and actions", placeholder: "Search records, pages and actions", autocomplete: "off", maxlength: "200",
  });
  const count = make("span", { role: "status", class: "hidden-text" });
  const dialog = make("dialog", { class: "palette", "aria-label": "Command palette" },
    make("div", { class: "palette-field" }, field, make("kbd", {}, "Esc")), list, count,
    make("p", { class: "palette-foot" }, "↑ ↓ choose · Enter opens · ? keys"));
  const keys = make("dl", { class: "keys" });
  for (const [key, meaning] of [["Ctrl K or /", "search records, pages and actions"], ["?", "this help"], ["g s", "Start"],
    ["g i", "Inbox"], ["g m", "Map"], ["g t", "Timeline"], ["g h", "Health"], ["Esc", "close"]]) {
    keys.append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, meaning));
  }
  for (const note of document.querySelectorAll("[data-keys] kbd")) {
    keys.append(make("dt", {}, make("kbd", {}, note.textContent)), make("dd", {}, (note.nextSibling?.textContent ?? "").replace(/[,.]/g, "").trim()));
  }
  const help = make("dialog", { class: "dialog", "aria-label": "Keys" }, make("h2", {}, "Keys"), keys,
    make("form", { method: "dialog", class: "actions" }, make("button", {}, "Close")));
  document.body.append(dialog, help);

  let items = [];
  let selected = 0;
  let latest = 0;
  let timer = 0;
  const select = (number) => {
    selected = items.length ? (number + items.length) % items.length : -1;
    [...list.children].forEach((option, position) => option.setAttribute("aria-selected", String(position === selected)));
    const option = list.children[selected];
    if (option) {
      field.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      field.removeAttribute("aria-activedescendant");
    }
  };
  const go = (item) => {
    dialog.close();
    location.assign(item.address);
  };
  const show = (found) => {
    items = found;
    list.replaceChildren(...items.map((item, position) => {
      const option = make("li", { role: "option", id: `palette-${position}`, "aria-selected": "false" },
        make("span", {}, item.title), make("span", { class: "facts" }, ...(item.store ? [badge(item.store)] : []), item.kind));
      option.addEventListener("click", () => go(item));
      option.addEventListener("mousemove", () => position !== selected && select(position));
      return option;
    }));
    count.textContent = items.length === 1 ? "1 result" : `${items.length} results`;
    select(0);
  };
  const own = (query) => [...pages, ...actions].filter((item) => fits(item, query));
  const search = async () => {
    const number = ++latest;
    const query = field.value.trim();
    const near = own(query);
    if (!query) return show(near);
    show([...near, { title: `Search for “${query}”`, kind: "search", address: `${home}search?q=${encodeURIComponent(query)}` }]);
    let records = [];
    try {
      const response = await fetch(`${home}search.json?q=${encodeURIComponent(query)}`);
      records = response.ok ? await response.json() : [];
    } catch {
      // The server has ended: the pages and actions stay.
    }
    if (number !== latest || !dialog.open) return;
    const found = records.slice(0, 8).map((record) => ({
      title: record.title, kind: record.category.replace("_", " "),
      address: record.address, store: record.store,
    }));
    show([...near.slice(0, 4), ...found, ...items.filter((item) => item.kind === "search")]);
  };
  const open = () => {
    field.value = "";
    dialog.showModal();
    field.focus();
    search();
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 80);
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) select(selected + step);
    else if (event.key === "Home" && !field.value) select(0);
    else if (event.key === "Enter" && items[selected]) go(items[selected]);
    else if (event.key === "?" && !field.value) { dialog.close(); help.showModal(); }
    else return;
    event.preventDefault();
  });
  for (const one of [dialog, help]) one.addEventListener("click", (event) => event.target === one && one.close());

  let before = "";
  document.addEventListener("keydown", (event) => {
    // The field of a dialog that has just closed keeps the focus for a moment.
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]") && !event.target.closest("dialog:not([open])");
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!dialog.open) open();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || dialog.open || help.open) return;
    const page = before === "g" && { s: "", i: "inbox", m: "map", t: "timeline", h: "health" }[event.key];
    before = event.key;
    if (event.key === "/") open();
    else if (event.key === "?") help.showModal();
    else if (typeof page === "string") location.assign(home + page);
    else return;
    event.preventDefault();
  });
  const helpButton = document.querySelector("[data-help]");
  if (helpButton) {
    helpButton.hidden = false;
    helpButton.addEventListener("click", () => help.showModal());
  }
  const kbd = form?.querySelector("kbd");
  if (kbd) kbd.title = "Ctrl K or / opens it anywhere";
}
