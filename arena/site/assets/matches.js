/* The matches of a bot, or of two, from that bot's files: #bot=ID&with=ID, or #3.7, the places of
   the two among the event's names, as the matrix has it. */
(() => {
  "use strict";

  const { t, number, load, wanted, want, ready, changed } = window.Arena;
  const $ = (id) => document.getElementById(id);
  const { event, replays } = document.body.dataset;
  const AT_ONCE = 500;

  let index = null;
  let lines = [];
  let shown = AT_ONCE;
  let loaded = 0;

  const cell = (text, key, className) => {
    const made = document.createElement("td");
    made.textContent = text;
    if (key !== undefined) made.dataset.k = key;
    if (className) made.className = className;
    return made;
  };

  const row = ([id, seats, totals, places, faults, annulled], own) => {
    const made = document.createElement("tr");
    const seat = seats.indexOf(own);
    const head = document.createElement("th");
    head.scope = "row";
    head.className = "sticky";
    const name = document.createElement(replays ? "a" : "span");
    if (replays) name.href = `replay.html#${new URLSearchParams({ m: id })}`;
    name.className = "mono";
    name.textContent = id;
    head.append(name);
    if (annulled) {
      const mark = document.createElement("span");
      mark.className = "tag bad";
      mark.textContent = t("mark_annulled");
      head.append(" ", mark);
    }
    const others = totals.reduce((sum, each) => sum + each, 0) - totals[seat];
    const lead = others / (totals.length - 1) - totals[seat];
    const failed = faults.map(([who, kind]) => `${index.names[seats[who]]}: ${kind}`);
    const table = cell("", undefined, "text");
    seats.forEach((each, place) => {
      const bot = document.createElement(each === own ? "strong" : "bdi");
      bot.textContent = index.names[each];
      table.append(place ? " \u2013 " : "", bot);
    });
    made.append(
      head,
      table,
      cell(totals.map((each) => number(each)).join(" \u2013 "), totals[seat]),
      cell(faults.length ? "\u2013" : number(lead, 1, true), faults.length ? undefined : lead),
      cell(number(places[seat]), places[seat]),
      cell(failed.join(", "), undefined, "text"),
    );
    return made;
  };

  const draw = () => {
    if (!index) return;
    const own = index.names.indexOf($("bot").value);
    const other = index.names.indexOf($("with").value);
    const found = lines.filter(([, seats]) => other < 0 || seats.includes(other));
    $("matches").tBodies[0].replaceChildren(...found.slice(0, shown).map((each) => row(each, own)));
    const all = loaded === (index.files[own] || 0);
    $("said").textContent = t(all ? "found_n" : "found_some", {
      n: Math.min(shown, found.length),
      of: found.length,
    });
    $("more").hidden = all && shown >= found.length;
  };

  const next = async (own) => {
    lines = lines.concat(await load(`e/${event}/m/b${own}-${loaded}`));
    loaded += 1;
  };

  /** A list of two wants all files of the one; of one bot its first file is enough to begin with. */
  const list = async () => {
    const own = index.names.indexOf($("bot").value);
    lines = [];
    loaded = 0;
    shown = AT_ONCE;
    want({ bot: $("bot").value, with: $("with").value });
    while (loaded < (index.files[own] || 0) && (loaded === 0 || $("with").value)) await next(own);
    draw();
  };

  const more = async () => {
    const own = index.names.indexOf($("bot").value);
    shown += AT_ONCE;
    if (loaded < (index.files[own] || 0)) await next(own);
    draw();
  };

  const choose = () => {
    const short = /^#(\d+)\.(\d+)$/.exec(location.hash);
    const asked = short
      ? new Map([["bot", index.names[short[1]]], ["with", index.names[short[2]]]])
      : wanted();
    if (index.names.includes(asked.get("bot"))) $("bot").value = asked.get("bot");
    $("with").value = index.names.includes(asked.get("with")) ? asked.get("with") : "";
    return list();
  };

  for (const id of ["bot", "with"]) $(id).addEventListener("change", list);
  $("more").addEventListener("click", more);
  window.addEventListener("hashchange", choose);
  ready
    .then(async () => {
      index = await load(`e/${event}/m/index`);
      await choose();
    })
    .catch(() => {
      $("said").textContent = t("not_loaded");
    });
  changed(draw);
})();
