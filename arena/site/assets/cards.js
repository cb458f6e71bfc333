/* Cards as elements: a card, a grid, the pile, the stock, a hand. Needs cards.css and nothing else.

   Pure: each function makes a new element from what it is given, keeps nothing and listens to
   nothing but a click on a card that may be picked. Text goes in as text, never as markup.

     Cards.grid({ game, cards: [9, 4, 2, -5, 3, 8, 11, 6], known: "aaaannnn", words: t })

   `game` is what the game's descriptor says of its cards: `across`, how many lie in a row; `labels`,
   by card, what is printed on it if it isn't its number; `strokes`, by card, what it counts.
   `known` has a letter a position, as in MatchSteps: a all know the card, o its owner alone,
   n no player. `as: true` shows the grid as one player sees it: a letter h is a card that this
   player doesn't know, and such a card may be null in `cards`.
   `lit` are positions to point at. With `pick`, a function of the position, each position in
   `open` (all of them without it) is a button.
   `words(key, values)` gives a text of strings/*.json; the keys are those that begin with "card_". */
(() => {
  "use strict";

  const KNOWN = { a: "card_open", o: "card_owner", n: "card_nobody", h: "card_hidden" };

  /** What is printed on a card. */
  const label = (game, card) =>
    game.labels[card] || String(card).replace("-", "\u2212");

  /** How a card's value looks: very good, good, middling, bad; as the game counts it. */
  const worth = (game, card) => {
    const strokes = game.strokes[card];
    return strokes < 0 ? "best" : strokes <= 3 ? "good" : strokes <= 8 ? "fair" : "poor";
  };

  const element = (name, className, text) => {
    const made = document.createElement(name);
    made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  /** One card. `face` is a letter of `known`; a card of null, or with h, shows its back. */
  const card = ({ game, card: value, face = "a", position, lit = false, pick, words }) => {
    const hidden = face === "h" || value === null || value === undefined;
    const shown = hidden ? "" : label(game, value);
    const made = element(pick ? "button" : "span", `card face-${hidden ? "h" : face}`);
    if (!hidden) made.classList.add(`worth-${worth(game, value)}`);
    if (lit) made.classList.add("lit");
    made.append(element("span", "value", shown));
    const told = words(hidden ? "card_hidden" : KNOWN[face], { card: shown });
    made.setAttribute(
      "aria-label",
      position === undefined ? told : words("card_at", { position, card: told }),
    );
    if (pick) {
      made.type = "button";
      made.addEventListener("click", () => pick(position));
    } else {
      made.setAttribute("role", "img");
    }
    if (position !== undefined) made.dataset.position = position;
    if (!hidden) made.dataset.card = value;
    made.dataset.face = hidden ? "h" : face;
    return made;
  };

  /** A seat's cards, as they lie, row by row. */
  const grid = ({ game, cards, known, lit = [], pick, open, words }) => {
    const made = element("div", `grid across-${game.across}`);
    made.style.setProperty("--across", game.across);
    const may = (position) => pick && (!open || open.includes(position));
    cards.forEach((value, position) => {
      made.append(
        card({
          game,
          card: value,
          face: known[position],
          position,
          lit: lit.includes(position),
          pick: may(position) ? pick : undefined,
          words,
        }),
      );
    });
    return made;
  };

  const place = (kind, name, inside) => {
    const made = element("figure", `place ${kind}`);
    made.append(inside, element("figcaption", "", name));
    return made;
  };

  /** The discard pile: its top card, and how many lie there. */
  const pile = ({ game, card: value, count, lit = false, pick, words }) =>
    place("pile", words("card_pile", { n: count }), card({ game, card: value, lit, pick, words }));

  /** The stock: a back, and how many cards are left. */
  const stock = ({ count, lit = false, pick, words }) =>
    place("stock", words("card_stock", { n: count }), card({ face: "h", lit, pick, words }));

  /** The card that was drawn and is still to be used; `card` null: another player's. */
  const hand = ({ game, card: value, words }) =>
    place("hand", words("card_drawn", {}), card({ game, card: value, lit: true, words }));

  window.Cards = { label, card, grid, pile, stock, hand };
})();
