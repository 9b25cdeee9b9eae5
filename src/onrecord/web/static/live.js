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

  // What has the focus is found again by its words: of several with the same, the one in the same place.
  const withWords = (region, words) => [...region.querySelectorAll("a, button, summary")].filter((part) => part.textContent === words);

  const put = (text) => {
    const regions = [...document.querySelectorAll("[data-live][id]")];
    const page = new DOMParser().parseFromString(text, "text/html");
    inPlace(() => {
      for (const region of regions) {
        const fresh = page.getElementById(region.id);
        if (!fresh || isInUse(region) || fresh.innerHTML === region.innerHTML) continue;
        const before = new Set([...region.querySelectorAll("li, tr, article")].map(keyOf));
        const held = region.contains(document.activeElement) ? document.activeElement : null;
        const order = held ? withWords(region, held.textContent).indexOf(held) : -1;
        const opened = new Set([...region.querySelectorAll("details[open]")].map((details) => keyOf(details.parentElement)));
        region.replaceChildren(...fresh.childNodes);
        for (const item of region.querySelectorAll("li, tr, article")) {
          if (keyOf(item) && !before.has(keyOf(item))) item.classList.add("is-new");
        }
        for (const details of region.querySelectorAll("details")) {
          if (opened.has(keyOf(details.parentElement))) details.open = true;
        }
        if (held) (held.id && document.getElementById(held.id) || withWords(region, held.textContent)[Math.max(order, 0)])?.focus();
      }
    });
    dispatchEvent(new CustomEvent("onrecord:refreshed"));
  };

  const refresh = async () => {
    if (!document.querySelector("[data-live][id]")) return;
    const response = await fetch(location.href);
    if (response.ok) put(await response.text());
  };

  // What somebody says about a showing is noted without leaving the place.
  document.addEventListener("submit", async (event) => {
    if (!event.target.matches(".feedback")) return;
    event.preventDefault();
    const form = event.target;
    const fields = new URLSearchParams(new FormData(form, event.submitter));
    const response = await fetch(form.action, { method: "POST", body: fields }).catch(() => null);
    if (response?.ok) return put(await response.text());
    // The page of the error says more.
    const { name, value } = event.submitter;
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    form.submit();
  });

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
  const hear = ({ news, isGone }) => {
    document.querySelector("[data-gone]").hidden = !isGone;
    if (news) take(news);
  };
  const tell = (message) => {
    tabs.postMessage(message);
    hear(message);
  };
  tabs.addEventListener("message", (message) => hear(message.data));

  let stream;
  const open = () => {
    stream = new EventSource(address);
    stream.addEventListener("change", (message) => tell({ news: JSON.parse(message.data) }));
    stream.addEventListener("error", async () => {
      const isThere = await fetch(script.src, { method: "HEAD", cache: "no-store" }).then((response) => response.ok, () => false);
      tell({ isGone: !isThere });
      // The server has many streams; another one may end.
      if (isThere && stream.readyState === EventSource.CLOSED) setTimeout(open, 60_000);
    });
  };
  const listen = () => {
    open();
    addEventListener("pagehide", () => stream.close());
    addEventListener("pageshow", (event) => event.persisted && open());
    return new Promise(() => {});
  };
  if (navigator.locks) navigator.locks.request(name, listen);
  else listen();
}
