/* On every page: its language, its theme, tables that sort. Defines Arena, which other scripts use.

   Arena.t(key, values)   a string in the page's language, as text
   Arena.number(value, decimals, sign)
   Arena.ready            a promise: the strings are there
   Arena.changed(redraw)  call `redraw` now and whenever the language changes
   Arena.sortable(table)  make the heads of a table sort it
   Arena.translate()      after something was put into the page */
(() => {
  "use strict";

  const LANGUAGES = ["en", "fr", "it", "es", "ja"];
  const root = document.documentElement;
  const up = document.body.dataset.up;
  const words = {};
  const redraws = [];
  let language = "en";

  const kept = (name) => {
    try {
      return localStorage.getItem(`arena-${name}`);
    } catch {
      return null; // a browser that keeps nothing
    }
  };
  const keep = (name, value) => {
    try {
      localStorage.setItem(`arena-${name}`, value);
    } catch {
      /* then it holds for this page */
    }
  };

  window.arenaWords = (name, found) => {
    words[name] = found;
  };

  const script = (path) =>
    new Promise((resolve, reject) => {
      const made = document.createElement("script");
      made.src = up + path;
      made.addEventListener("load", resolve);
      made.addEventListener("error", () => reject(new Error(path)));
      document.head.append(made);
    });

  const number = (value, decimals = 0, sign = false) =>
    new Intl.NumberFormat(language, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
      signDisplay: sign ? "always" : "negative",
    })
      .format(value)
      .replace("-", "\u2212");

  const shown = (value) =>
    typeof value === "number"
      ? new Intl.NumberFormat(language, { maximumFractionDigits: 3 }).format(value)
      : value;

  const t = (key, values = {}) =>
    (words[language]?.[key] ?? words.en?.[key] ?? key).replace(/\{(\w+)\}/g, (_, name) =>
      shown(values[name]),
    );

  const moment = (time) => {
    const how = { timeZone: "UTC", year: "numeric", month: "long", day: "numeric" };
    if (time.dataset.day === undefined) {
      Object.assign(how, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
    }
    return new Intl.DateTimeFormat(language, how).format(new Date(time.dateTime));
  };

  /** Everything in the page that is a string, a number or a time of ours. */
  const translate = () => {
    root.lang = document.body.dataset.sheet ? root.lang : language;
    for (const each of document.querySelectorAll("[data-t]")) {
      each.textContent = t(each.dataset.t, JSON.parse(each.dataset.v || "{}"));
    }
    for (const each of document.querySelectorAll("[data-a]")) {
      const [attribute, key] = each.dataset.a.split(":");
      each.setAttribute(attribute, t(key, JSON.parse(each.dataset.v || "{}")));
    }
    for (const each of document.querySelectorAll("[data-n]")) {
      const decimals = (each.dataset.n.split(".")[1] || "").length;
      each.textContent = number(Number(each.dataset.n), decimals, "s" in each.dataset);
    }
    for (const each of document.querySelectorAll("time")) each.textContent = moment(each);
    for (const each of document.querySelectorAll("a[data-rules]")) {
      const sheets = each.dataset.languages?.split(" ");
      const shown = sheets && !sheets.includes(language) ? sheets[0] : language;
      each.href = `${up}rules/${each.dataset.rules}.${shown}.html`;
    }
    for (const redraw of redraws) redraw();
  };

  const known = (name) => LANGUAGES.find((each) => name && name.toLowerCase().startsWith(each));

  const choose = async (name) => {
    if (!words[name]) await script(`assets/lang/${name}.js`);
    language = name;
    const list = document.getElementById("language");
    if (list) list.value = name;
    translate();
  };

  /** The language that was asked for, chosen before, or that the browser prefers. */
  const preferred = () =>
    document.body.dataset.sheet
      ? root.lang
      : known(new URLSearchParams(location.search).get("lang")) ||
        known(kept("language")) ||
        (navigator.languages || []).map(known).find(Boolean) ||
        "en";

  const languages = () => {
    const list = document.getElementById("language");
    if (!list) return;
    list.hidden = false;
    list.addEventListener("change", () => {
      keep("language", list.value);
      const sheet = document.body.dataset.sheet;
      if (sheet) location.href = `${sheet}.${list.value}.html`;
      else choose(list.value);
    });
  };

  const themes = () => {
    const toggle = document.getElementById("theme");
    const saved = kept("theme");
    if (saved === "dark" || saved === "light") root.dataset.theme = saved;
    if (!toggle) return;
    toggle.hidden = false;
    toggle.addEventListener("click", () => {
      const dark = root.dataset.theme
        ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      keep("theme", root.dataset.theme);
    });
  };

  /** What a row is sorted by in a column; nothing goes last, whichever way it is sorted. */
  const key = (row, column, kind) => {
    const cell = row.cells[column];
    const value = cell.dataset.k;
    if (value === undefined) return kind === "text" ? cell.textContent : null;
    return kind === "text" ? value : Number(value);
  };

  const compared = (a, b, down) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b, language) : a - b;
    return down ? -order : order;
  };

  const sort = (table, head, kind) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const column = head.cellIndex;
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row, column, kind), row]);
    rows.sort((one, two) => compared(one[0], two[0], down));
    body.append(...rows.map(([, row]) => row));
  };

  const sortable = (table) => {
    for (const head of table.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, head.dataset.sort));
      head.append(button);
    }
  };

  themes();
  languages();
  for (const table of document.querySelectorAll("table[data-sortable]")) sortable(table);
  const first = preferred();
  const ready = (first === "en" ? Promise.resolve() : script(`assets/lang/en.js`))
    .then(() => choose(first))
    .then(() => root.setAttribute("data-ready", ""));

  window.Arena = {
    t,
    number,
    ready,
    sortable,
    translate,
    script,
    up,
    changed: (redraw) => {
      redraws.push(redraw);
      ready.then(redraw);
    },
  };
})();
