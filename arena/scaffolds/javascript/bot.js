// A bot that plays play-nine and four-card-golf. Your strategy goes into choose().
'use strict';

const UNKNOWN = 6; // what a card that you don't know counts: about the mean of the pack
const POINTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0]; // four-card-golf: by rank, 1 to 13

// Your strategy goes here: return one of the moves in `legal`.
//
//   view.seat      your seat, from 0
//   view.grids     everybody's cards by seat; null: you don't know it
//   view.phase     'tee', 'turn' or 'drawn'
//   view.discard   the top of the discard pile
//   view.drawn     the card in your hand in phase 'drawn', else null
//   view.pile      the whole discard pile, the top last
//   view.stock     how many cards the stock has
//   view.recycled  [], or the cards in the stock since the pile was reshuffled into it
//   view.order     seats in the order of play, the dealer last
//   view.turns     turns that each seat has begun on this hole
//   view.ended_by  the seat that ended the hole (this is your last turn), or null
//   view.known     four-card-golf: by seat, who knows each card: n, o, r or a
//
// pick(list) is one of the list at random.
function choose(game, view, legal, pick) {
  // Another game: its scores are for you to write.
  if (game !== 'play-nine' && game !== 'four-card-golf') return pick(legal);
  if (view.phase === 'tee') return pick(legal); // all cards are face down: any two are as good

  const grid = view.grids[view.seat];
  const card = view.phase === 'turn' ? view.discard : view.drawn;
  const { saving, position } = bestPlace(game, grid, card);

  if (view.phase === 'turn') {
    if (legal.includes('knock') && score(game, grid) <= 8) return 'knock';
    return saving > 3 ? `take ${position}` : 'draw';
  }
  if (saving > 0) return `swap ${position}`;
  return pick(legal.filter((move) => /^(flip|discard)/.test(move)));
}

// How many strokes `card` saves in its best place, and that place.
function bestPlace(game, grid, card) {
  const now = score(game, grid);
  const savings = grid.map((_, position) => {
    const changed = [...grid];
    changed[position] = card;
    return now - score(game, changed);
  });
  const saving = Math.max(...savings);
  return { saving, position: savings.indexOf(saving) };
}

// Strokes of a grid, as far as it is known.
function score(game, grid) {
  let strokes = 0;
  if (game === 'four-card-golf') {
    for (const card of grid) strokes += card === null ? UNKNOWN : POINTS[card];
    return strokes;
  }
  for (let column = 0; column < 4; column += 1) {
    const [top, bottom] = [grid[column], grid[column + 4]];
    if (top !== null && top === bottom) {
      strokes += top === -5 ? -10 : 0; // more columns of one number: more is saved
    } else {
      strokes += (top ?? UNKNOWN) + (bottom ?? UNKNOWN);
    }
  }
  return strokes;
}

// Math.random() can't be seeded. This is mulberry32: a number from 0 up to 1 at each call.
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Nothing else may go to stdout: log with console.error.
function say(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

let game = '';
let random = generator(0);

function hear(message) {
  switch (message.type) {
    case 'hello':
      game = message.game;
      say({ type: 'ready' });
      break;
    case 'match':
      random = generator(message.seed); // the same match, the same moves
      break;
    case 'act': {
      // Also there: hole, totals, events, move_ms, bank_ms.
      const pick = (list) => list[Math.floor(random() * list.length)];
      say({ turn: message.turn, move: choose(game, message.view, message.legal, pick) });
      break;
    }
    case 'bye':
      process.exit(0);
  }
}

// Lines may come in pieces, and several at once. (node's readline would also cut a line at other
// characters than the newline.) The program ends by itself when the input does.
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) hear(JSON.parse(line));
});
