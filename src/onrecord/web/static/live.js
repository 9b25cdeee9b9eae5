// What changes in the stores appears on the open page. Everything can be read without this.
"use strict";
{
  const script = document.currentScript;
  const address = new URL("../events", script.src).href;
  let version = script.dataset.version;

  const count = (due) => {
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (due["/"]) document.title = `(${due["/"]}) ${document.title}`;
    for (const link of document.querySelectorAll("nav[aria-label=Pages] a")) {
      const page = `/${new URL(link.href).pathname.split("/").slice(2).join("/")}`;
      const number = due[page];
      if (number === undefined) continue;
      const label = link.querySelector(".count") ?? document.createElement("span");
      label.classList.add("count");
      label.classList.toggle("due", page === "/inbox");
      label.textContent = number;
      if (!number) label.remove();
      else if (!label.isConnected) link.append(" ", label);
    }
  };

  const keyOf = (element) => element.id || element.getAttribute("data-key") || element.querySelector("a[href]")?.getAttribute("href") || "";
  const isInUse = (region) =>
    [...region.querySelectorAll("input:not([type=hidden]), textarea, select")].some(
      (field) => field === document.activeElement || field.value !== (field.defaultValue ?? field.value),
    ) || region.querySelector("dialog[open]");

  // What the reader looks at stays where it is, whatever is put in above it.
  const inPlace = (change) => {
    const seen = [...document.querySelectorAll("main [data-live] :is(li, tr, article)")].filter((mark) => {
      const { top, bottom } = mark.getBoundingClientRect();
      return keyOf(mark) && bottom > 0 && top < innerHeight;
    });
    // Of several lists beside each other, the widest is the one that is read.
    const anchor = seen.sort((one, other) => other.offsetWidth - one.offsetWidth)[0];
    const key = anchor && keyOf(anchor);
    const top = anchor?.getBoundingClientRect().top;
    change();
    if (!key || scrollY === 0) return;
    const same = [...document.querySelectorAll(anchor.tagName)].find((mark) => keyOf(mark) === key);
    if (same) scrollBy(0, same.getBoundingClientRect().top - top);
  };

  const refresh = async () => {
    const regions = [...document.querySelectorAll("[data-live][id]")];
    if (!regions.length) return;
    const response = await fetch(location.href);
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    inPlace(() => {
      for (const region of regions) {
        const fresh = page.getElementById(region.id);
        if (!fresh || isInUse(region) || fresh.innerHTML === region.innerHTML) continue;
        const before = new Set([...region.querySelectorAll("li, tr, article")].map(keyOf));
        const held = region.contains(document.activeElement) ? document.activeElement : null;
        const opened = new Set([...region.querySelectorAll("details[open]")].map((details) => keyOf(details.parentElement)));
        region.replaceChildren(...fresh.childNodes);
        for (const item of region.querySelectorAll("li, tr, article")) {
          if (keyOf(item) && !before.has(keyOf(item))) item.classList.add("is-new");
        }
        for (const details of region.querySelectorAll("details")) {
          if (opened.has(keyOf(details.parentElement))) details.open = true;
        }
        const href = held?.getAttribute("href");
        (held?.id && document.getElementById(held.id) || href && region.querySelector(`[href="${CSS.escape(href)}"]`))?.focus();
      }
    });
    dispatchEvent(new CustomEvent("onrecord:refreshed"));
  };

  const take = (news) => {
    count(news.due);
    if (news.version === version) return;
    version = news.version;
    dispatchEvent(new CustomEvent("onrecord:changed"));
    refresh();
  };

  // A browser opens few connections to one address: its tabs share one stream, which the first of them holds.
  const name = `onrecord ${address}`;
  const tabs = new BroadcastChannel(name);
  tabs.addEventListener("message", (message) => take(message.data));
  const listen = () => {
    const stream = new EventSource(address);
    stream.addEventListener("change", (message) => {
      const news = JSON.parse(message.data);
      tabs.postMessage(news);
      take(news);
    });
    return new Promise(() => addEventListener("pagehide", () => stream.close()));
  };
  navigator.locks.request(name, listen);
}
