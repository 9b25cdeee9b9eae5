// Forms of records: a preview while somebody types, rows that are added and moved in place, and a warning before text
// is lost. Without this script the buttons do the same with a new page.
"use strict";
{
  const MAX_BYTES = 1_000_000;
  const alive = new URL("icon.svg", document.currentScript.src).href;
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
      if (input.role === "combobox") input.setAttribute("aria-expanded", "false");
    }
    for (const part of copy.querySelectorAll(".field-error")) part.remove();
    copy.classList.add("is-empty");
    copy.classList.remove("is-open");
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

  const label = (name) => name.replace("content.", "").replaceAll("_", " ").replaceAll(".", " ");
  const typed = (form) => [...new FormData(form)].filter(([name, text]) => text.trim() && !form.querySelector(`input[type=hidden][name="${CSS.escape(name)}"]`))
    .map(([name, text]) => `${label(name)}: ${text}`).join("\n");
  const refuse = (form, sentence) => {
    form.querySelector("[data-refused]")?.remove();
    const notice = document.createElement("div");
    notice.className = "notice bad";
    notice.dataset.refused = "";
    notice.setAttribute("role", "alert");
    const copy = document.createElement("button");
    copy.type = "button";
    copy.textContent = "Copy the text";
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed(form));
      copy.textContent = "Copied";
    });
    const paragraph = document.createElement("p");
    paragraph.textContent = sentence;
    notice.append(paragraph, copy);
    form.querySelector(".actions").before(notice);
    copy.focus();
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
      const body = new URLSearchParams(new FormData(form));
      body.set("do", "preview");
      body.set("part", "1");
      const response = await fetch(form.action, { method: "POST", body }).catch(() => null);
      if (number !== latest) return;
      preview.classList.toggle("is-old", !response?.ok);
      if (!response?.ok) return;
      preview.replaceChildren(...parsed(await response.text()).childNodes);
    };
    form.addEventListener("input", (event) => {
      const { target } = event;
      if (target.matches("textarea")) grow(target);
      const list = target.closest("[data-list]");
      if (list) tidy(list);
      if (target.dataset.own) form.querySelector(`[name="${CSS.escape(target.dataset.own)}"][value="own"]`).checked = true;
      if (preview) {
        clearTimeout(previewTimer);
        previewTimer = setTimeout(showPreview, 250);
      }
    });
    form.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.add) {
        event.preventDefault();
        const list = button.previousElementSibling;
        const row = isEmpty(list.lastElementChild) ? list.lastElementChild : addRow(list);
        row.classList.add("is-open");
        row.querySelector("input, textarea").focus();
      } else if (button.dataset.move) {
        event.preventDefault();
        const row = button.closest("li");
        const list = row.parentElement;
        const other = button.dataset.move === "up" ? row.previousElementSibling : row.nextElementSibling;
        if (button.dataset.move === "remove") {
          if (list.children.length === 1) addRow(list);
          const next = [row.nextElementSibling, row.previousElementSibling].find((other) => other?.checkVisibility());
          row.remove();
          (next?.querySelector("input, textarea") ?? list.nextElementSibling).focus();
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
    form.addEventListener("paste", (event) => {
      const list = event.target.closest("[data-list]");
      if (!list || !event.target.matches("input")) return;
      const texts = event.clipboardData.getData("text").split(list.dataset.list === "tags" ? /[\n,]/ : "\n").map((text) => text.trim()).filter(Boolean);
      if (texts.length < 2) return;
      event.preventDefault();
      let row = event.target.closest("li");
      for (const [number, text] of texts.entries()) {
        if (number) {
          row.after(emptied(row));
          row = row.nextElementSibling;
        }
        row.querySelector("input").setRangeText(text);
      }
      renumber(list);
      tidy(list);
      row.querySelector("input").focus();
      form.dispatchEvent(new Event("input"));
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        form.requestSubmit(form.querySelector("button.main"));
        return;
      }
      const list = event.target.closest("[data-list]");
      const isChip = event.target.matches(".chip-inputs input");
      if (isChip && event.key === "Backspace" && !event.target.value && event.target.closest("li").previousElementSibling) {
        event.preventDefault();
        const row = event.target.closest("li");
        row.previousElementSibling.querySelector("input").focus();
        if (row.nextElementSibling) row.remove();
        renumber(list);
        return;
      }
      if (isChip && event.key === "," && list.dataset.list === "tags") event.preventDefault();
      else if (event.key !== "Enter" || event.isComposing || !event.target.matches("input:not([type=checkbox], [type=radio]), .one-line")) return;
      event.preventDefault();
      if (list && event.target.value.trim()) {
        tidy(list);
        event.target.closest("li").nextElementSibling?.querySelector("input, textarea").focus();
      }
    });
    // A server that has ended, or lets this tab in no more, must not take what was typed with it.
    form.addEventListener("submit", async (event) => {
      if (isSending) return;
      event.preventDefault();
      if (new URLSearchParams(new FormData(form)).toString().length > MAX_BYTES) return refuse(form, "Not saved: the text is too long, a record has at most 200,000 bytes.");
      const response = await fetch(alive, { method: "HEAD" }).catch(() => null);
      if (!response?.ok) return refuse(form, "Not saved: the server of this page does not answer. Your text is still here. Start “onrecord web” again, open this form there, and paste the text.");
      isSending = true;
      form.requestSubmit(event.submitter);
    });
    window.addEventListener("pageshow", () => { isSending = false; });
    window.addEventListener("beforeunload", (event) => { if (form.isConnected && !isSending && isDirty()) event.preventDefault(); });
    for (const area of form.querySelectorAll("textarea.grows")) grow(area);
    for (const list of form.querySelectorAll("[data-list]")) renumber(list);
    if (!("unsaved" in form.dataset)) saved = new URLSearchParams(new FormData(form)).toString();
    form.querySelector("[autofocus]")?.focus();
  };

  for (const form of document.querySelectorAll("form[data-edit]")) begin(form);
  document.addEventListener("onrecord:form", (event) => begin(event.target));

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.querySelector("span").textContent = "Copied";
    });
  }
}
