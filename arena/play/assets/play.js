/* A seat at the table: shows the state that the server sends, and sends back what is chosen.

   Everything that is known here is in `state`; `mode` is what of a move has been chosen so far. Text
   goes in as text, never as markup. What is legal is the server's to say: an odd click is sent too,
   and comes back with the reason. */
(() => {
  "use strict";

  const LANGUAGES = { en: "English", fr: "Français", it: "Italiano", es: "Español", ja: "日本語" };
  const at = (id) => document.getElementById(id);
  const words = {};
  let language = "en";
  let state = null;
  let mode = ""; // "", take, flip, knock, leave, or "tee 3": the first card of a tee-off
  let said = null; // why something can't be: { key, values }
  let stream = null;
  let lost = "";
  let seen = { hole: 0, plays: 0 };

  // ---------------------------------------------------------------- words

  const t = (key, values = {}) =>
    (words[language]?.[key] ?? words.en?.[key] ?? key).replace(/\{(\w+)\}/g, (_, name) =>
      String(values[name]),
    );

  const kept = (name) => {
    try {
      return localStorage.getItem(`arena-${name}`);
    } catch {
      return null;
    }
  };
  const keep = (name, value) => {
    try {
      localStorage.setItem(`arena-${name}`, value);
    } catch {
      /* then it holds for this page */
    }
  };

  const json = async (path) => (await fetch(path)).json();

  /** The rule sheet, as the site has it: our own file, its headings one level down. */
  const sheet = async () => {
    const sheets = state.about.sheets;
    at("rules").hidden = !sheets.length;
    if (!sheets.length) return;
    const path = `rules/${state.game}.${sheets.includes(language) ? language : sheets[0]}.html`;
    if (at("rules").dataset.path === path) return;
    at("rules").dataset.path = path;
    const text = await (await fetch(path)).text();
    const body = new DOMParser().parseFromString(text, "text/html").body;
    body.querySelector("h1")?.remove();
    for (const head of body.querySelectorAll("h2")) head.replaceWith(element("h3", "", head.textContent));
    at("rules").replaceChildren(...body.childNodes);
  };

  const choose = async (name) => {
    for (const each of new Set(["en", name])) {
      words[each] ??= { ...(await json(`site/${each}.json`)), ...(await json(`strings/${each}.json`)) };
    }
    language = name;
    document.documentElement.lang = name;
    at("language").value = name;
    for (const each of document.querySelectorAll("[data-t]")) each.textContent = t(each.dataset.t);
    for (const each of document.querySelectorAll("[data-a]")) {
      each.setAttribute("aria-label", t(each.dataset.a));
    }
    draw();
  };

  const preferred = () =>
    [kept("language"), ...(navigator.languages || [])]
      .map((name) => (name || "").slice(0, 2).toLowerCase())
      .find((name) => name in LANGUAGES) || "en";

  // ---------------------------------------------------------------- talking to the server

  const listen = () => {
    stream?.close();
    lost = "";
    stream = new EventSource("events");
    stream.addEventListener("message", (event) => {
      lost = "";
      take(JSON.parse(event.data));
    });
    stream.addEventListener("elsewhere", () => {
      stream.close();
      lost = "elsewhere";
      draw();
    });
    stream.addEventListener("error", () => {
      if (lost !== "elsewhere" && state?.wanted !== "gone") lost = "lost";
      draw();
    });
  };

  const take = (sent) => {
    if (state === null || sent.turn !== state.turn || sent.match !== state.match) {
      mode = "";
      if (sent.turn) said = null;
    }
    state = sent;
    if (state.wanted === "gone") stream.close();
    draw();
  };

  const send = async (move) => {
    if (!state || (!state.turn && move !== "leave")) return;
    said = null;
    let answer;
    try {
      answer = await fetch("do", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ turn: state.turn, do: move }),
      });
    } catch {
      lost = "lost";
      draw();
      return;
    }
    if (answer.ok) mode = ""; // else what was chosen so far still holds
    said = answer.status === 409 ? await answer.json() : null;
    draw();
  };

  // ---------------------------------------------------------------- choosing

  const choosing = () => state?.wanted === "move";
  const legal = (word) => state.legal.some((move) => move.split(" ")[0] === word);

  /** One of the person's own cards. */
  const pick = (position) => {
    if (!choosing()) return;
    if (state.phase === "tee") {
      const first = mode.startsWith("tee ") ? Number(mode.slice(4)) : null;
      if (first === null) {
        mode = `tee ${position}`;
        draw();
      } else if (first === position) {
        mode = "";
        draw();
      } else {
        send(`tee ${Math.min(first, position)} ${Math.max(first, position)}`);
      }
    } else if (mode === "take" || mode === "flip") {
      send(`${mode} ${position}`);
    } else if (state.phase === "drawn") {
      send(`swap ${position}`);
    } else {
      said = { key: "choose-first", values: {} };
      draw();
    }
  };

  const into = (wanted) => {
    mode = mode === wanted ? "" : wanted;
    said = null;
    draw();
  };

  const pile = () => {
    if (!choosing()) return;
    if (state.phase === "drawn") away();
    else if (legal("take")) into("take");
    else send("take 0");
  };

  const stock = () => choosing() && send("draw");

  /** The drawn card isn't wanted. */
  const away = () => (legal("flip") ? into("flip") : send("discard"));

  const knock = () => (mode === "knock" || !legal("knock") ? send("knock") : into("knock"));

  /** Positions that complete what has been chosen so far. */
  const targets = () => {
    if (!choosing()) return [];
    const word = state.phase === "tee" ? "tee" : mode || (state.phase === "drawn" ? "swap" : "");
    const cards = state.cards[state.seat].map((_, position) => position);
    if (word.startsWith("tee")) return cards;
    return cards.filter((position) => state.legal.includes(`${word} ${position}`));
  };

  // ---------------------------------------------------------------- drawing

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const label = (card) => (card === null || card === undefined ? "?" : Cards.label(state.about, card));

  const told = (play) => {
    const [word, one, two] = play.move.split(" ");
    const values = {
      who: state.names[play.seat],
      at: one,
      two,
      card: play.card === undefined || play.card === null ? t("a_card") : label(play.card),
      out: label(play.out),
      cards: (play.cards || []).map(label).join(", "),
    };
    const own = state.about.sentences[word]?.past;
    const said = own
      ? `${values.who} ${own.replace(/{(\w+)}/g, (_, key) => values[key])}`
      : t(`play_${word === "skip" ? "discard" : word}`, values);
    return said + (play.reshuffled ? ` ${t("anew")}` : "");
  };

  /** Cards that were moved since they were last drawn, as "seat position". */
  const fresh = () => {
    const known = seen.hole === state.hole && seen.match === state.match ? seen.plays : 0;
    const found = new Set();
    // For who hears the page: what is new, and only that.
    if (state.plays.length > known) put("news", state.plays.slice(known).map(told).join(". "));
    for (const play of state.plays.slice(known)) {
      for (const position of play.move.split(" ").slice(1)) found.add(`${play.seat} ${position}`);
      if (play.out !== undefined && play.out !== null) found.add("pile");
    }
    seen = { hole: state.hole, plays: state.plays.length, match: state.match };
    return found;
  };

  const seat = (number, moved) => {
    const mine = number === state.seat;
    const made = element("div", "seat");
    if (state.acting === number) made.classList.add("acting");
    made.dataset.seat = number;
    const title = element("h3");
    title.append(element("span", "name", state.names[number]), element("b", "", String(state.totals[number])));
    made.append(title);
    if (state.cards[number].length) {
      const lit = mine ? targets() : [];
      const grid = Cards.grid({
        game: state.about,
        cards: state.cards[number],
        known: state.known[number],
        lit,
        pick: mine && choosing() ? pick : undefined,
        words: (key, values) => t(key, values),
      });
      [...grid.children].forEach((card, position) => {
        if (moved.has(`${number} ${position}`)) card.classList.add("fresh");
        if (!mine || !choosing()) return;
        card.dataset.key = `card ${position}`;
        if (mode === `tee ${position}`) card.setAttribute("aria-pressed", "true");
      });
      made.append(grid);
    }
    let note = "";
    if (state.fallen[number]) note = t("failed", { kind: state.fallen[number] });
    else if (state.ended_by === number) note = t(state.about.ended === "knocked" ? "knocked" : "out");
    else if (!state.order.includes(number)) note = t("sits_out");
    else if (state.acting === number) note = t(mine ? "your_turn" : "to_move");
    made.append(element("p", "state", note));
    return made;
  };

  const middle = (moved) => {
    if (state.discard === null) return [];
    const on = choosing() && state.phase !== "tee";
    const say = (key, values) => t(key, values);
    const top = Cards.pile({
      game: state.about,
      card: state.discard,
      count: state.pile,
      lit: mode === "take" || (on && mode === "" && state.phase === "turn"),
      pick: on ? pile : undefined,
      words: say,
    });
    const left = Cards.stock({
      count: state.stock,
      lit: on && mode === "" && state.phase === "turn",
      pick: on ? stock : undefined,
      words: say,
    });
    if (moved.has("pile")) top.querySelector(".card").classList.add("fresh");
    if (on) {
      for (const [made, key, name] of [[top, "pile", "press_pile"], [left, "stock", "press_stock"]]) {
        const button = made.querySelector("button");
        button.dataset.key = key;
        button.setAttribute("aria-label", `${button.getAttribute("aria-label")}: ${t(name)}`);
      }
      if (mode === "take") top.querySelector("button").setAttribute("aria-pressed", "true");
    }
    const made = [top, left];
    if (state.drawn !== null) made.push(Cards.hand({ game: state.about, card: state.drawn, words: say }));
    return made;
  };

  const button = (key, name, act, { primary = false, pressed } = {}) => {
    const made = element("button", primary ? "primary" : "", t(name));
    made.type = "button";
    made.dataset.key = key;
    if (pressed !== undefined) made.setAttribute("aria-pressed", String(pressed));
    made.addEventListener("click", act);
    return made;
  };

  const actions = () => {
    if (mode === "leave") {
      return [
        button("stay", "stay", () => into(""), { primary: true }),
        button("really", "leave_really", () => send("leave")),
      ];
    }
    if (lost === "elsewhere") return [button("here", "play_here", listen, { primary: true })];
    switch (state?.wanted) {
      case "hole":
        return [button("next", "next_hole", () => send("next"), { primary: true })];
      case "over":
        return [
          button("again", "again", () => send("again"), { primary: true }),
          button("enough", "enough", () => send("leave")),
        ];
      case "move":
        break;
      default:
        return [];
    }
    const made = [];
    if (state.phase === "turn") {
      made.push(button("take", "do_take", pile, { pressed: mode === "take" }));
      made.push(button("draw", "do_draw", stock));
      if (legal("knock")) {
        made.push(button("knock", mode === "knock" ? "knock_really" : "do_knock", knock));
      }
    } else if (state.phase === "drawn") {
      const flip = legal("flip");
      made.push(button("away", flip ? "do_flip" : "do_discard", away, flip ? { pressed: mode === "flip" } : {}));
      if (legal("skip")) made.push(button("skip", "do_skip", () => send("skip")));
    }
    for (const [word, { offer }] of Object.entries(state.about.sentences)) {
      if (!legal(word)) continue;
      const own = button(word, "do_draw", () => send(word));
      own.textContent = `${word}: ${offer}`;
      made.push(own);
    }
    if (mode) made.push(button("back", "think_again", () => into("")));
    return made;
  };

  const prompt = () => {
    if (lost) return t(lost === "elsewhere" ? "elsewhere" : "lost");
    if (!state) return "";
    if (mode === "leave") return t("leave_sure");
    const values = { card: label(state.drawn ?? state.discard), hole: state.hole };
    switch (state.wanted) {
      case "gone":
        return t("gone");
      case "hole":
        return `${t("hole_over", values)} ${strokes()}`;
      case "over":
        return result();
      case "move":
        break;
      default:
        return state.acting === null || state.acting === state.seat
          ? t("others")
          : t("waiting_for", { who: state.names[state.acting] });
    }
    if (state.phase === "tee") return t(mode ? "tee_second" : "tee_first");
    if (mode === "knock") return t("knock_sure");
    if (mode === "take") return t("where_take", values);
    if (mode === "flip") return t("where_flip", values);
    return t(state.phase === "turn" ? "turn_prompt" : "drawn_prompt", values);
  };

  /** Of the hole that is over. */
  const strokes = () =>
    state.names
      .map((name, number) => [name, state.scores.at(-1)[number]])
      .filter(([, each]) => each !== null)
      .map(([name, each]) => `${name} ${String(each).replace("-", "\u2212")}`)
      .join(", ");

  const result = () => {
    const order = state.places
      .map((place, number) => ({ place, number }))
      .sort((a, b) => a.place - b.place || a.number - b.number)
      .map(({ place, number }) => {
        const how = state.fallen[number] ? t("forfeits") : state.totals[number];
        return `${place}. ${state.names[number]} ${how}`;
      });
    return `${t("match_over")} ${order.join(", ")}. ${state.kept ? t("kept_in", { folder: state.kept }) : ""}`;
  };

  const score = () => {
    const head = element("tr");
    head.append(element("th", "text sticky", t("hole")));
    state.scores.forEach((_, hole) => head.append(element("th", "", String(hole + 1))));
    head.append(element("th", "", t("total")));
    for (const each of head.children) each.scope = "col";
    const rows = state.names.map((name, number) => {
      const row = element("tr", number === state.seat ? "mine" : "");
      const title = element("th", "text sticky");
      title.scope = "row";
      title.append(element("span", "name", name));
      row.append(title);
      for (const hole of state.scores) {
        const strokes = hole[number];
        row.append(element("td", "", strokes === null ? "–" : String(strokes).replace("-", "\u2212")));
      }
      const total = element("td");
      total.append(element("b", "", String(state.totals[number]).replace("-", "\u2212")));
      row.append(total);
      return row;
    });
    const thead = element("thead");
    thead.append(head);
    const tbody = element("tbody");
    tbody.append(...rows);
    return [thead, tbody];
  };

  const put = (id, text) => {
    if (at(id).textContent !== text) at(id).textContent = text;
  };

  const draw = () => {
    if (!words.en) return;
    const focused = document.activeElement?.dataset?.key;
    put("prompt", prompt());
    at("why").hidden = !said;
    put("why", said ? t(`why_${said.key.replaceAll("-", "_")}`, said.values) : "");
    at("actions").replaceChildren(...actions());
    if (state) table();
    if (focused) {
      const again = document.querySelector(`[data-key="${CSS.escape(focused)}"]`);
      (again || at("mine")).focus({ preventScroll: true });
    }
  };

  const table = () => {
    const moved = fresh();
    const others = state.names.map((_, number) => number).filter((number) => number !== state.seat);
    // Around the table: the seat that plays after the person comes first.
    const after = (number) => (number - state.seat + state.names.length) % state.names.length;
    others.sort((a, b) => after(a) - after(b));
    at("table").hidden = state.hole === 0;
    at("table").classList.toggle("many", others.length > 3);
    at("others").replaceChildren(...others.map((number) => seat(number, moved)));
    at("middle").replaceChildren(...middle(moved));
    at("mine").replaceChildren(seat(state.seat, moved));
    at("plays").replaceChildren(
      ...state.plays.map((play, number) =>
        element("li", number === state.plays.length - 1 ? "latest" : "", told(play)),
      ),
    );
    at("plays").scrollTop = at("plays").scrollHeight;
    at("score").replaceChildren(...score());
    const where = state.hole > state.holes ? "where_playoff" : "where";
    put("where", state.hole ? t(where, { hole: state.hole, holes: state.holes }) : "");
    put("title", state.about.titles[language] || state.about.title);
    sheet().catch(() => delete at("rules").dataset.path); // asked for again with the next state
    put("commitment", state.commitment);
    at("leave").hidden = state.wanted === "gone" || state.wanted === "over";
    document.body.dataset.wanted = state.wanted;
    document.body.dataset.number = state.number;
  };

  // ---------------------------------------------------------------- keys and the page's own buttons

  const keys = {
    t: () => legal("take") && into("take"),
    d: () => send("draw"),
    s: () => into(""),
    f: () => (legal("flip") ? into("flip") : send("flip")),
    x: () => send(state.about.moves.includes("discard") ? "discard" : "skip"),
    k: knock,
    Escape: () => into(""),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, summary")) return;
    if (!choosing() || mode === "leave") return;
    if (/^[0-9]$/.test(event.key) && Number(event.key) < state.cards[state.seat].length) {
      pick(Number(event.key));
    } else if (event.key in keys) {
      keys[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  });

  at("leave").addEventListener("click", () => into("leave"));
  at("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep("theme", root.dataset.theme);
  });
  if (["light", "dark"].includes(kept("theme"))) document.documentElement.dataset.theme = kept("theme");
  for (const [name, shown] of Object.entries(LANGUAGES)) {
    const option = element("option", "", shown);
    option.value = name;
    at("language").append(option);
  }
  at("language").addEventListener("change", () => {
    keep("language", at("language").value);
    choose(at("language").value);
  });
  choose(preferred()).then(listen);
})();
