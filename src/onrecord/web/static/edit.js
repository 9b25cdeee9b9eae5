// Forms of records: a preview while somebody types, rows that are added and moved in place, values that fit what is
// typed, and a warning before text is lost. Without this script the buttons do the same with a new page.
"use strict";
{
  const parsed = (text) => new DOMParser().parseFromString(text, "text/html").body;

  const grow = (area) => {
    if (CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  };

  // Lists: the last row is empty, so that there is always one to write in.
  const renumber = (list) => {
    const name = list.dataset.list;
    const dotted = new RegExp(`(^| )(${name.replaceAll(".", "\\.")}\\.)\\d+`);
    const dashed = new RegExp(`(f-${name.replaceAll(/[._]/g, "-")}-)\\d+`, "g");
    [...list.children].forEach((row, place) => {
      for (const part of row.querySelectorAll("*")) {
        for (const { name: key, value } of [...part.attributes]) {
          const isName = ["name", "data-list", "data-add"].includes(key) || (key === "value" && part.matches("button"));
          if (isName) part.setAttribute(key, value.replace(dotted, `$1$2${place}`));
          else if (["id", "for", "aria-describedby"].includes(key)) part.setAttribute(key, value.replace(dashed, `$1${place}`));
        }
      }
      const label = list.closest("fieldset")?.querySelector("legend")?.firstChild?.textContent.trim() ?? "";
      for (const part of row.querySelectorAll(":scope > .item-text > [aria-label]")) part.setAttribute("aria-label", `${label}, ${list.dataset.item} ${place + 1}`);
      for (const button of row.querySelectorAll(":scope > .item-buttons > button")) button.setAttribute("aria-label", `${button.title}: ${label}, ${list.dataset.item} ${place + 1}`);
      const legend = row.querySelector(":scope > .item-group > legend");
      if (legend) legend.textContent = legend.textContent.replace(/\d+$/, place + 1);
    });
  };
  const isEmpty = (row) => [...row.querySelectorAll("input:not([type=checkbox], [type=radio]), textarea")].every((input) => !input.value.trim()) && !row.querySelector(":checked");
  const emptied = (row) => {
    const copy = row.cloneNode(true);
    for (const inner of copy.querySelectorAll("[data-list]")) inner.replaceChildren(...[...inner.children].slice(0, 1));
    for (const input of copy.querySelectorAll("input, textarea")) {
      if (input.type === "checkbox" || input.type === "radio") input.checked = false;
      else input.value = "";
      input.removeAttribute("aria-invalid");
      input.removeAttribute("list");
      delete input.dataset.ready;
    }
    for (const part of copy.querySelectorAll(".field-error, datalist")) part.remove();
    copy.classList.add("is-empty");
    return copy;
  };
  const addRow = (list) => {
    const row = emptied(list.lastElementChild);
    list.append(row);
    renumber(list);
    return row;
  };
  const tidy = (list) => {
    for (const row of list.children) row.classList.toggle("is-empty", isEmpty(row));
    if (!isEmpty(list.lastElementChild)) addRow(list);
  };

  // Pickers: the field asks for values that fit what is typed; any text can still be sent.
  let pickers = 0;
  const pick = async (input) => {
    let options = document.getElementById(input.getAttribute("list") ?? "");
    if (!options) {
      options = document.createElement("datalist");
      options.id = `picker-${++pickers}`;
      input.after(options);
      input.setAttribute("list", options.id);
    }
    const typed = input.value;
    const address = `${input.dataset.src}?q=${encodeURIComponent(typed)}`;
    const response = await fetch(address).catch(() => null);
    if (!response?.ok || input.value !== typed) return;
    const values = await response.json();
    options.replaceChildren(...values.map(({ value, label }) => {
      const option = document.createElement("option");
      option.value = value;
      if (label !== value) option.label = label;
      return option;
    }));
  };

  const prepared = new WeakSet();
  const begin = (form) => {
    if (prepared.has(form)) return;
    prepared.add(form);
    form.classList.add("has-script");
    let saved = "unsaved" in form.dataset ? "" : new URLSearchParams(new FormData(form)).toString();
    let isSending = false;
    let previewTimer = 0;
    let latest = 0;
    const isDirty = () => new URLSearchParams(new FormData(form)).toString() !== saved;
    const preview = form.querySelector("#preview");
    const showPreview = async () => {
      const number = ++latest;
      const response = await fetch(form.dataset.action, { method: "POST", body: new URLSearchParams(new FormData(form)) }).catch(() => null);
      if (!response?.ok || number !== latest) return;
      preview.replaceChildren(...parsed(await response.text()).childNodes);
    };
    form.addEventListener("input", (event) => {
      const { target } = event;
      if (target.matches("textarea")) grow(target);
      const list = target.closest("[data-list]");
      if (list) tidy(list);
      if (target.dataset.own) form.querySelector(`[name="${CSS.escape(target.dataset.own)}"][value="own"]`).checked = true;
      if (target.dataset.src) pick(target);
      if (preview) {
        clearTimeout(previewTimer);
        previewTimer = setTimeout(showPreview, 250);
      }
    });
    form.addEventListener("focusin", ({ target }) => { if (target.dataset?.src && !target.hasAttribute("list")) pick(target); });
    form.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.add) {
        event.preventDefault();
        const list = button.previousElementSibling;
        const row = isEmpty(list.lastElementChild) ? list.lastElementChild : addRow(list);
        row.querySelector("input, textarea").focus();
      } else if (button.dataset.move) {
        event.preventDefault();
        const row = button.closest("li");
        const list = row.parentElement;
        const other = button.dataset.move === "up" ? row.previousElementSibling : row.nextElementSibling;
        if (button.dataset.move === "remove") {
          if (list.children.length === 1) addRow(list);
          const next = row.nextElementSibling ?? row.previousElementSibling;
          row.remove();
          next.querySelector("input, textarea").focus();
        } else if (other && !isEmpty(row) && !isEmpty(other)) {
          if (button.dataset.move === "up") other.before(row);
          else other.after(row);
          button.focus();
        }
        renumber(list);
        tidy(list);
        form.dispatchEvent(new Event("input"));
      } else if ("preview" in button.dataset) {
        event.preventDefault();
        showPreview();
      }
    });
    form.addEventListener("keydown", (event) => {
      const list = event.target.closest("[data-list]");
      if (event.key !== "Enter" || event.isComposing || !event.target.matches("input:not([type=checkbox], [type=radio]), .one-line")) return;
      event.preventDefault();
      if (list) {
        tidy(list);
        event.target.closest("li").nextElementSibling?.querySelector("input, textarea").focus();
      }
    });
    form.addEventListener("submit", () => { isSending = true; });
    window.addEventListener("pageshow", () => { isSending = false; });
    window.addEventListener("beforeunload", (event) => { if (form.isConnected && !isSending && isDirty()) event.preventDefault(); });
    for (const area of form.querySelectorAll("textarea.grows")) grow(area);
    for (const list of form.querySelectorAll("[data-list]")) renumber(list);
    if (!("unsaved" in form.dataset)) saved = new URLSearchParams(new FormData(form)).toString();
    form.querySelector("[autofocus]")?.focus();
  };

  for (const form of document.querySelectorAll("form[data-edit]")) begin(form);
  document.addEventListener("onrecord:form", (event) => begin(event.target));

  // Pickers and buttons outside of the form of a record.
  for (const input of document.querySelectorAll("form:not([data-edit]) input[data-src]")) {
    input.addEventListener("input", () => pick(input));
    input.addEventListener("focus", () => pick(input), { once: true });
  }
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.querySelector("span").textContent = "Copied";
    });
  }
}
