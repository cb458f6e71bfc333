/* A match as a row of moments: how the table lies when a hole has been dealt, after each move, at
   each fault, and when all cards are revealed. From a match's steps alone; no rules are needed.

   Moments.of(match)          the moments; each knows its hole and its number within that (`at`)
   Moments.faces(moment, seat, watcher)   letters as Cards.grid takes them; watcher null: everything
   Pure. What a watcher could not know is in no `faces`. */
(() => {
  "use strict";

  const more = (luck, change) =>
    change && change.length && luck.length ? luck.map((each, seat) => each + change[seat]) : luck;

  const after = (now, step, teeing) => {
    const cards = now.cards.slice();
    const known = now.known.slice();
    if (step.cards) cards[step.seat] = step.cards;
    for (const [seat, letters] of step.known || []) known[seat] = letters;
    return {
      ...now,
      moves: now.moves + 1,
      step,
      cards,
      known,
      discard: step.discard ?? now.discard,
      pile: step.pile ?? now.pile,
      stock: step.stock ?? now.stock,
      drawn: step.move === "draw" ? step.drawn : null,
      endedBy: step.ends ? step.seat : now.endedBy,
      teeing,
      fault: null,
      luck: more(now.luck, step.luck),
    };
  };

  const failed = (now, fault) => ({
    ...now,
    fault,
    step: null,
    fallen: [...now.fallen, fault.seat],
  });

  const revealed = (now) => ({
    ...now,
    known: now.known.map((letters) => "a".repeat(letters.length)),
    fault: null,
    step: null,
    drawn: null,
    over: true,
  });

  const before = (match) => ({
    hole: 0,
    moves: 0,
    cards: [],
    known: [],
    discard: null,
    pile: 0,
    stock: 0,
    drawn: null,
    endedBy: null,
    teeing: false,
    over: false,
    fault: null,
    step: null,
    fallen: [],
    luck: match.ledger ? match.seats.map(() => 0) : [],
  });

  const dealt = (hole, last, tees) => ({
    ...last,
    hole: hole.hole,
    moves: 0,
    cards: hole.cards,
    known: hole.known,
    discard: hole.discard,
    pile: 1,
    stock: hole.stock,
    drawn: null,
    endedBy: null,
    teeing: tees > 0,
    over: false,
    fault: null,
    step: null,
    luck: more(last.luck, hole.luck),
  });

  const of = (match) => {
    const waiting = match.faults.slice();
    const found = [];
    let now = before(match);
    let at = 0;
    const note = (moment) => {
      now = moment;
      found.push({ ...moment, at });
      at += 1;
    };
    while (waiting.length && !waiting[0].turn) note(failed(now, waiting.shift()));
    for (const hole of match.holes) {
      at = 0;
      const tees = hole.steps.filter((step) => step.move.startsWith("tee ")).length;
      note(dealt(hole, now, tees));
      hole.steps.forEach((step, number) => {
        while (waiting.length && waiting[0].hole === hole.hole && waiting[0].turn <= step.turn) {
          note(failed(now, waiting.shift()));
        }
        note(after(now, step, number + 1 < tees));
      });
      while (waiting.length && waiting[0].hole === hole.hole) note(failed(now, waiting.shift()));
      if (hole.scores.length) note(revealed(now));
    }
    return found;
  };

  const faces = (moment, seat, watcher) =>
    [...(moment.known[seat] || "")]
      .map((letter) =>
        watcher === null || letter === "a" || (letter === "o" && seat === watcher) ? letter : "h",
      )
      .join("");

  /** Whose decision is wanted. */
  const acting = (match, moment) => {
    if (!moment.hole || moment.over) return [];
    const hole = match.holes[moment.hole - 1];
    if (moment.teeing) {
      const done = hole.steps.slice(0, moment.moves).map((step) => step.seat);
      return hole.order.filter((seat) => !done.includes(seat));
    }
    if (moment.moves < hole.steps.length) return [hole.steps[moment.moves].seat];
    return match.faults
      .filter((fault) => fault.hole === hole.hole)
      .slice(-1)
      .map((fault) => fault.seat);
  };

  window.Moments = { of, faces, acting };
})();
