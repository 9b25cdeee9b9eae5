// Pickers: a field with `data-src` offers what fits while somebody types; arrows choose, Enter takes, Escape closes.
// Any text can still be sent, and without this script the field is a field.
"use strict";
{
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const list = make("ul", { role: "listbox", id: "picks", class: "picks", "aria-label": "Suggestions", hidden: "" });
  const spoken = make("p", { role: "status", class: "hidden-text" });
  document.body.append(list, spoken);

  let field = null;
  let offers = [];
  let selected = -1;
  let latest = 0;
  let timer = 0;

  const close = () => {
    clearTimeout(timer);
    ++latest;
    list.hidden = true;
    selected = -1;
    field?.setAttribute("aria-expanded", "false");
    field?.removeAttribute("aria-activedescendant");
  };
  const place = () => {
    const box = field.getBoundingClientRect();
    const isAbove = innerHeight - box.bottom < list.offsetHeight + 8 && box.top > innerHeight - box.bottom;
    const width = Math.min(Math.max(box.width, 288), innerWidth - 16);
    list.style.width = `${width}px`;
    list.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`;
    list.style.top = isAbove ? "auto" : `${box.bottom + 4}px`;
    list.style.bottom = isAbove ? `${innerHeight - box.top + 4}px` : "auto";
  };
  const select = (number) => {
    selected = number;
    [...list.children].forEach((option, position) => option.setAttribute("aria-selected", String(position === number)));
    const option = list.children[number];
    if (!option) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  };
  const take = (number) => {
    const target = field;
    target.value = offers[number].value;
    close();
    target.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  };

  const bold = (text, typed) => {
    const start = typed ? text.toLowerCase().indexOf(typed.toLowerCase()) : -1;
    if (start < 0) return [text];
    const end = start + typed.length;
    return [text.slice(0, start), make("mark", {}, text.slice(start, end)), text.slice(end)];
  };
  const show = (found, typed) => {
    offers = found;
    list.replaceChildren(...offers.map(({ value, label, note }, position) => {
      const option = make("li", { role: "option", id: `pick-${position}`, "aria-selected": "false" },
        make("span", {}, ...bold(label, typed)));
      if (note) option.append(make("span", { class: "facts" }, note));
      option.addEventListener("click", () => take(position));
      return option;
    }));
    selected = -1;
    field.removeAttribute("aria-activedescendant");
    list.hidden = !offers.length;
    field.setAttribute("aria-expanded", String(Boolean(offers.length)));
    const number = offers.length === 1 ? "1 suggestion" : `${offers.length} suggestions`;
    spoken.textContent = offers.length ? `${number}, choose with the arrow keys` : typed && "No suggestion";
    if (offers.length) place();
  };
  const offer = async () => {
    const number = ++latest;
    const target = field;
    const typed = target.value.trim();
    const address = new URL(target.dataset.src, location);
    address.searchParams.set("q", typed);
    const store = target.form?.elements[target.dataset.storeField ?? "store"]?.value;
    if (store) address.searchParams.set("store", store);
    const response = await fetch(address).catch(() => null);
    if (!response?.ok || number !== latest) return;
    const found = await response.json();
    if (number !== latest || document.activeElement !== target) return;
    // What stands in another row of the list already is not offered again.
    const rows = target.closest("[data-list]")?.querySelectorAll("input[data-src]") ?? [];
    const present = new Set([...rows].filter((row) => row !== target).map((row) => row.value));
    show(found.filter(({ value }) => !present.has(value) && value !== typed), typed);
  };

  const isPicker = (element) => element.matches?.("input[data-src]");
  document.addEventListener("focusin", ({ target }) => {
    if (!isPicker(target) || target === field) return;
    if (field) close();
    field = target;
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "picks",
    })) field.setAttribute(name, value);
  });
  document.addEventListener("focusout", ({ target }) => target === field && close());
  document.addEventListener("input", ({ target }) => {
    if (target !== field) return;
    clearTimeout(timer);
    timer = setTimeout(offer, 80);
  });
  document.addEventListener("click", ({ target }) => {
    if (target === field && list.hidden) offer();
  });
  // A click in the list must not take the focus from the field.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  // Before the forms, for which Enter leads to the next row.
  document.addEventListener("keydown", (event) => {
    if (event.target !== field || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && list.hidden) offer();
    else if (step) select(selected + step >= offers.length ? 0 : selected + step < 0 ? offers.length - 1 : selected + step);
    else if (event.key === "Escape" && !list.hidden) close();
    else if (event.key === "Enter" && !list.hidden && selected >= 0) take(selected);
    else return;
    event.preventDefault();
    if (event.key === "Escape") event.stopPropagation();
  }, true);
  addEventListener("scroll", () => list.hidden || place(), { passive: true, capture: true });
  addEventListener("resize", () => list.hidden || place());
}
