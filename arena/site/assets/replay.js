/* The viewer: one match on the table, at the moment that the address names.

   #m=MATCH&h=3&s=12&seat=1   hole 3, its moment 12 (0 is the deal), as seat 1 could know it */
(() => {
  "use strict";

  const { t, number, load, wanted, want } = window.Arena;
  const { faces, acting } = window.Moments;
  const Cards = window.Cards;
  const $ = (id) => document.getElementById(id);
  const { event, cards } = document.body.dataset;
  const game = JSON.parse(cards);
  const PACES = [2, 1, 0.5, 0.2];

  let match = null;
  let moments = [];
  let at = 0;
  let watcher = null;
  let timer = null;
  let index = null;

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const named = (seat) => index.names[match.seats[seat]];
  const card = (value) => Cards.label(game, value);
  const strokes = (luck) => luck.map((each) => number(each / 1000, 1, true)).join(" / ");
  const say = (key) => {
    $("said").textContent = key ? t(key) : "";
  };

  /** The segments that may hold a match: one, but for events that were added to. */
  const segments = (id) => {
    const found = [];
    let before = 0;
    for (const firsts of index.parts) {
      let low = 0;
      let high = firsts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (firsts[middle] <= id) low = middle + 1;
        else high = middle;
      }
      if (low) found.push(before + low - 1);
      before += firsts.length;
    }
    return found;
  };

  const found = async (id) => {
    for (const number of segments(id)) {
      const segment = await load(`e/${event}/m/s${number}`);
      const one = segment.find((each) => each.id === id);
      if (one) return one;
    }
    return null;
  };

  /* ------------------------------------------------------------- words */

  const told = (number) => {
    const moment = moments[number];
    if (moment.fault) {
      return t("move_failed", { name: named(moment.fault.seat), kind: moment.fault.kind });
    }
    if (moment.over) return scored(match.holes[moment.hole - 1]);
    if (!moment.step) return opening(match.holes[moment.hole - 1]);
    return moved(number, moment.step);
  };

  const opening = (hole) =>
    t(hole.hole > 9 ? "playoff_begins" : "hole_begins", {
      hole: hole.hole,
      dealer: named(hole.order.at(-1)),
      first: named(hole.order[0]),
    });

  const scored = (hole) =>
    `${t("hole_over", { hole: hole.hole })} ${[...hole.order]
      .sort()
      .map((seat) => `${named(seat)} ${number(hole.scores[seat])}`)
      .join(", ")}`;

  const moved = (number, step) => {
    const before = moments[number - 1];
    const moment = moments[number];
    const [word, ...places] = step.move.split(" ");
    const theirs = watcher !== null && watcher !== step.seat;
    const name = named(step.seat);
    const out = places.length === 1 ? card(before.cards[step.seat][places[0]]) : "";
    const open = places.length === 1 && moment.known[step.seat][places[0]] === "a";
    const unseen = theirs && (word === "draw" || (word === "swap" && !open));
    const values = {
      name,
      a: places[0],
      b: places[1],
      out,
      card: step.drawn === undefined ? card(before.discard) : card(step.drawn),
    };
    let key = `move_${word}`;
    if (word === "tee" && theirs && moments[at].teeing) key = "move_tee_unseen";
    if (unseen) key = `move_${word}_unseen`;
    const own = game.sentences[word]?.now;
    const mine = { at: places[0], two: places[1], drawn: values.card, top: card(before.discard), before: out };
    let text = own ? `${name} ${own.replace(/{(\w+)}/g, (_, key) => mine[key])}` : t(key, values);
    if (step.reshuffled) text += ` ${t("move_reshuffled")}`;
    if (step.unasked) text += ` ${t("move_unasked")}`;
    if (watcher === null && step.luck && Math.abs(step.luck[step.seat]) >= 50) {
      text += ` (${t("luck_of", { n: strokes([step.luck[step.seat]]) })})`;
    }
    return text;
  };

  /* ------------------------------------------------------------- the table */

  const lit = (moment, seat) => {
    if (!moment.step || moment.step.seat !== seat) return [];
    const [word, ...places] = moment.step.move.split(" ");
    if (word === "tee" && watcher !== null && watcher !== seat && moment.teeing) return [];
    return places.map(Number);
  };

  const state = (moment, seat) => {
    if (moment.fallen.includes(seat)) return t("state_failed");
    const ended = game.ended === "knocked" ? "state_knocked" : "state_out";
    const parts = moment.endedBy === seat ? [t(ended)] : [];
    if (moment.over) {
      const hole = match.holes[moment.hole - 1];
      if (hole.order.includes(seat)) parts.push(t("state_scored", { n: hole.scores[seat] }));
    }
    if (moment.over || parts.length) return parts.join(" \u00b7 ");
    return acting(match, moment).includes(seat) ? t("state_acting") : "";
  };

  const totals = (moment) => {
    const done = moment.over ? moment.hole : moment.hole - 1;
    return done > 0 ? match.holes[done - 1].totals : match.seats.map(() => 0);
  };

  const seats = (moment) => {
    const row = element("div", undefined, "seats");
    const turn = acting(match, moment);
    match.seats.forEach((_, seat) => {
      const box = element("div", undefined, `seat${turn.includes(seat) ? " acting" : ""}`);
      box.dataset.seat = seat;
      const head = element("h3");
      const name = element("bdi", named(seat), "name");
      name.title = named(seat);
      head.append(name, element("b", number(totals(moment)[seat])));
      box.append(head);
      const known = faces(moment, seat, watcher);
      if (known) {
        box.append(
          Cards.grid({ game, cards: moment.cards[seat], known, lit: lit(moment, seat), words: t }),
        );
      }
      box.append(element("p", state(moment, seat), "state"));
      row.append(box);
    });
    return row;
  };

  const middle = (moment) => {
    const row = element("div", undefined, "middle");
    if (!moment.hole) return row;
    row.append(
      Cards.pile({ game, card: moment.discard, count: moment.pile, words: t }),
      Cards.stock({ count: moment.stock, words: t }),
    );
    if (moment.drawn !== null && moment.drawn !== undefined) {
      const seen = watcher === null || acting(match, moment).includes(watcher);
      row.append(Cards.hand({ game, card: seen ? moment.drawn : null, words: t }));
    }
    return row;
  };

  const legend = () => {
    const shown = [
      ["a", "card_open"],
      ["o", "card_owner"],
      ["n", "card_nobody"],
      ["h", "card_hidden"],
    ];
    const secrets = moments.some((moment) => moment.known.some((letters) => letters.includes("o")));
    const wantedFaces = watcher === null ? "aon" : "aoh";
    $("legend").replaceChildren(
      ...shown
        .filter(([face]) => wantedFaces.includes(face) && (face !== "o" || secrets))
        .map(([face, key]) => {
          const line = element("span");
          const sample = Cards.card({ game, card: 5, face, words: t });
          sample.setAttribute("aria-hidden", "true");
          line.append(sample, element("span", t(key, { card: "5" })));
          return line;
        }),
    );
  };

  const fault = (moment) => {
    const given = moment.fault;
    if (!given) return [];
    const box = element("div", undefined, "note warn");
    box.append(
      element("p", t("move_failed", { name: named(given.seat), kind: given.kind })),
      ...[given.message, given.line, given.status, given.stderr]
        .filter(Boolean)
        .map((text) => element("p", text, "long mono")),
    );
    return [box];
  };

  const board = (moment) => {
    const done = match.holes.slice(0, moment.over ? moment.hole : Math.max(0, moment.hole - 1));
    const table = element("table");
    const heads = element("tr");
    const head = (text, className) => {
      const made = element("th", text, className);
      made.scope = "col";
      return made;
    };
    heads.append(
      head(t("col_bot"), "text sticky"),
      ...done.map((hole) => head(number(hole.hole))),
      head(t("total")),
    );
    if (moment.luck.length && watcher === null) heads.append(head(t("col_luck")));
    table.append(element("thead"), element("tbody"));
    table.tHead.append(heads);
    match.seats.forEach((_, seat) => {
      const row = element("tr");
      const name = element("th", undefined, "sticky");
      name.scope = "row";
      name.append(element("bdi", named(seat), "name"));
      row.append(
        name,
        ...done.map((hole) =>
          element(
            "td",
            hole.scores.length && hole.order.includes(seat) ? number(hole.scores[seat]) : "\u2013",
          ),
        ),
        element("td", number(totals(moment)[seat])),
      );
      if (moment.luck.length && watcher === null) {
        row.append(element("td", strokes([moment.luck[seat]])));
      }
      table.tBodies[0].append(row);
    });
    const box = element("div", undefined, "scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", t("score"));
    box.append(table);
    const result = element("p", "", "quiet");
    if (at === moments.length - 1) {
      const order = match.seats.map((_, seat) => seat);
      order.sort((one, two) => match.places[one] - match.places[two]);
      result.textContent = `${t("match_over")} ${order
        .map((seat) => `${match.places[seat]}. ${named(seat)}`)
        .join(", ")}`;
    }
    return [box, result];
  };

  const moves = (moment) => {
    const list = $("moves");
    const items = [];
    moments.forEach((each, number) => {
      // What is still to come is nothing that a seat could know.
      if (each.hole !== moment.hole || (watcher !== null && number > at)) return;
      const item = element("li");
      const button = element("button", told(number));
      button.type = "button";
      button.dataset.at = number;
      if (number === at) button.setAttribute("aria-current", "step");
      button.addEventListener("click", () => go(number));
      item.append(button);
      items.push(item);
    });
    list.replaceChildren(...items);
    const current = list.querySelector("[aria-current]");
    if (current) {
      const off = current.offsetTop - list.offsetTop;
      list.scrollTop = off - list.clientHeight / 2;
    }
  };

  const draw = () => {
    if (!match) return;
    const moment = moments[at];
    const felt = $("felt");
    felt.classList.toggle("many", match.seats.length > 4);
    $("match").textContent = `${match.seats.map((_, seat) => named(seat)).join(" \u2013 ")}`;
    const where = moment.hole
      ? t("where", {
          hole: moment.hole,
          of: match.holes.length,
          move: moment.moves,
          moves: match.holes[moment.hole - 1].steps.length,
        })
      : t("where_before");
    $("moment").textContent = `${match.id}, ${where}`;
    felt.replaceChildren(seats(moment), middle(moment));
    felt.dataset.moment = at;
    legend();
    $("fault").replaceChildren(...fault(moment));
    $("score").replaceChildren(...board(moment));
    moves(moment);
    $("hole").value = moment.hole;
    $("play").setAttribute("aria-pressed", String(timer !== null));
    $("play").textContent = t(timer === null ? "step_play" : "step_pause");
    for (const id of ["first", "back"]) $(id).disabled = at === 0;
    for (const id of ["next", "last"]) $(id).disabled = at === moments.length - 1;
    want({ m: match.id, h: moment.hole, s: moment.at, seat: watcher });
  };

  /* ------------------------------------------------------------- moving */

  const go = (number) => {
    at = Math.max(0, Math.min(moments.length - 1, number));
    draw();
  };
  const hole = (number) => {
    const first = moments.findIndex((moment) => moment.hole === number);
    if (first >= 0) go(first);
  };
  const stop = () => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  const play = () => {
    stop();
    timer = setInterval(() => {
      if (at >= moments.length - 2) stop();
      go(at + 1);
    }, Number($("pace").value) * 1000);
  };
  const step = (change) => {
    stop();
    go(change);
  };

  const KEYS = {
    ArrowRight: () => step(at + 1),
    n: () => step(at + 1),
    ArrowLeft: () => step(at - 1),
    p: () => step(at - 1),
    Home: () => step(0),
    End: () => step(moments.length - 1),
    "]": () => hole(moments[at].hole + 1),
    "[": () => hole(moments[at].hole - 1),
    a: () => toggle(),
    v: () => look(watcher === null ? 0 : watcher + 1 < match.seats.length ? watcher + 1 : null),
  };
  const toggle = () => {
    if (timer === null) play();
    else stop();
    draw();
  };
  const look = (seat) => {
    watcher = seat;
    $("seat").value = seat === null ? "" : String(seat);
    draw();
  };

  const listen = () => {
    $("first").addEventListener("click", () => step(0));
    $("back").addEventListener("click", () => step(at - 1));
    $("next").addEventListener("click", () => step(at + 1));
    $("last").addEventListener("click", () => step(moments.length - 1));
    $("play").addEventListener("click", toggle);
    $("hole").addEventListener("change", () => hole(Number($("hole").value)));
    $("seat").addEventListener("change", () => {
      look($("seat").value === "" ? null : Number($("seat").value));
    });
    $("pace").addEventListener("change", () => timer !== null && play());
    $("share").addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        say("shared");
      } catch {
        say("share_address"); // from a folder, or where it isn't allowed
      }
    });
    document.addEventListener("keydown", (key) => {
      const typing =
        key.target instanceof Element && key.target.closest("select, input, textarea, .scroll");
      if (!match || typing || key.ctrlKey || key.metaKey || key.altKey) return;
      const action = KEYS[key.key];
      if (!action) return;
      key.preventDefault();
      action();
    });
    window.addEventListener("hashchange", () => open());
  };

  const option = (value, text) => {
    const made = element("option", text);
    made.value = value;
    return made;
  };

  const choices = () => {
    if (!match) return;
    $("hole").replaceChildren(...match.holes.map((each) => option(each.hole, number(each.hole))));
    $("seat").replaceChildren(
      option("", t("everybody")),
      ...match.seats.map((_, seat) => option(seat, named(seat))),
    );
    $("seat").value = watcher === null ? "" : String(watcher);
    const pace = $("pace").value || "1";
    $("pace").replaceChildren(...PACES.map((each) => option(each, t("seconds", { n: each }))));
    $("pace").value = pace;
  };

  const open = async () => {
    stop();
    const asked = wanted();
    say("loading");
    index = await load(`e/${event}/m/index`);
    const id = asked.get("m") || index.parts.flat()[0];
    const one = await found(id);
    if (!one || one.unshown) {
      say(one ? "match_unshown" : "match_unknown");
      $("viewer").hidden = true;
      return;
    }
    match = one;
    moments = window.Moments.of(match);
    const seat = asked.get("seat");
    watcher = seat !== null && Number(seat) in match.seats ? Number(seat) : null;
    const number = Number(asked.get("h") || moments[0].hole);
    const within = Number(asked.get("s") || 0);
    const first = moments.findIndex((moment) => moment.hole === number);
    const count = moments.filter((moment) => moment.hole === number).length;
    at = first < 0 ? 0 : first + Math.min(Math.max(0, within || 0), count - 1);
    say("");
    $("viewer").hidden = false;
    choices();
    draw();
  };

  listen();
  window.Arena.ready.then(open).catch(() => say("not_loaded"));
  window.Arena.changed(() => {
    choices();
    draw();
  });
})();
