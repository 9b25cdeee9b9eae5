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
