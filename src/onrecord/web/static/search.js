// Search of the static site: each word must be a prefix of a word in the record's title, category, status or tags.
"use strict";
const field = document.querySelector("#q");
const results = document.querySelector("#results");
const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
const indexed = records.map((record) => words(record.slice(0, 3).join(" ") + " " + record[4]));
const show = () => {
  const query = words(field.value);
  const matches = records.filter((record, n) => query.every((word) => indexed[n].some((other) => other.startsWith(word))));
  const list = document.createElement("ul");
  list.className = "rows";
  for (const [title, category, status, day, , file] of matches.slice(0, 200)) {
    const link = document.createElement("a");
    link.href = file;
    link.textContent = title;
    link.className = "row-title";
    const facts = document.createElement("span");
    facts.className = "facts";
    facts.textContent = [category.replace("_", " "), ...(status === "active" ? [] : [status]), day].join(" · ");
    const item = document.createElement("li");
    item.className = "row";
    const main = document.createElement("span");
    main.className = "row-main";
    main.append(link);
    item.append(main, facts);
    list.append(item);
  }
  const none = document.createElement("p");
  none.textContent = "No record matches.";
  results.replaceChildren(matches.length ? list : none);
};
field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", show);
document.querySelector("#search").addEventListener("submit", (event) => event.preventDefault());
show();
