// column-js: a patient collector of columns, in JavaScript for node, without packages.
//
// Policy, ties to the lowest position. Every card that is not known counts the mean of the cards
// that nobody sees.
//
// play-nine: a column is worth its cards, or 0 (Hole-in-One -10) when they match; a column that
// doesn't match yet is worth less by HOPE x (what a match would save) x (how many of the unseen
// cards are of its numbers), the combination with the columns already matched included: so it
// holds on to eights while there are eights left. HOPE is 3 with three or more cards of its own
// face down and 1.5 with two; the last one and the last turn hope for nothing. It takes the discard
// if that is worth at least 3, draws otherwise, swaps the drawn card in if that is worth anything,
// and else flips the first face-down card. It flips its last one only when its worth is below that
// of all others, else it skips.
//
// four-card-golf: it takes the discard if that saves at least 3, swaps the drawn card in if that
// saves anything, and knocks at a sum of 5 or less.
'use strict';

const COMBINATION = [0, 0, -10, -15, -20];
const HOPE = [0, 0, 1.5, 3];
const POINTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0];

// Counts of the unseen cards, by card + 5 so that a Hole-in-One has index 0; their mean worth.
function unseenCards(view, pack, worth) {
  const count = pack.slice();
  for (const grid of view.grids) for (const card of grid) if (card !== null) count[card + 5] -= 1;
  for (const card of view.pile) count[card + 5] -= 1;
  for (const card of view.recycled) count[card + 5] -= 1;
  if (view.drawn !== null) count[view.drawn + 5] -= 1;
  let total = 0;
  let sum = 0;
  count.forEach((number, index) => {
    total += number;
    sum += number * worth(index - 5);
  });
  return { count, total: total || 1, mean: total ? sum / total : 0 };
}

function worthOfGrid(grid, unseen, hope) {
  const matched = new Map();
  for (let column = 0; column < 4; column += 1) {
    const top = grid[column];
    if (top !== null && top === grid[column + 4]) matched.set(top, (matched.get(top) || 0) + 1);
  }
  let worth = 0;
  for (const [card, columns] of matched) {
    worth += COMBINATION[columns] - (card === -5 ? 10 * columns : 0);
  }
  for (let column = 0; column < 4; column += 1) {
    const pair = [grid[column], grid[column + 4]];
    if (pair[0] !== null && pair[0] === pair[1]) continue;
    const sum = pair.reduce((all, card) => all + (card === null ? unseen.mean : card), 0);
    worth += sum;
    for (const card of pair) {
      if (card === null) continue;
      const columns = matched.get(card) || 0;
      const match = COMBINATION[columns + 1] - COMBINATION[columns] - (card === -5 ? 10 : 0);
      worth -= (hope * Math.max(0, sum - match) * unseen.count[card + 5]) / unseen.total;
    }
  }
  return worth;
}

// [what the card gains at its best place, that place]
function bestPlace(grid, card, unseen, hope) {
  const now = worthOfGrid(grid, unseen, hope);
  let best = [-Infinity, 0];
  for (let position = 0; position < 8; position += 1) {
    const changed = grid.slice();
    changed[position] = card;
    const gain = now - worthOfGrid(changed, unseen, hope);
    if (gain > best[0] + 1e-9) best = [gain, position];
  }
  return best;
}

const PACK_NINE = [4, 0, 0, 0, 0, ...Array(13).fill(8)];

function playNine(view) {
  if (view.phase === 'tee') return 'tee 0 1';
  const grid = view.grids[view.seat];
  const unseen = unseenCards(view, PACK_NINE, (card) => card);
  const hidden = grid.filter((card) => card === null).length;
  const hope = view.ended_by === null ? HOPE[Math.min(hidden, 3)] : 0;
  if (view.phase === 'turn') {
    const [gain, place] = bestPlace(grid, view.discard, unseen, hope);
    return gain >= 3 ? `take ${place}` : 'draw';
  }
  const [gain, place] = bestPlace(grid, view.drawn, unseen, hope);
  if (gain > 1e-9) return `swap ${place}`;
  if (hidden === 1 && view.ended_by === null) {
    const mine = worthOfGrid(grid, unseen, 0);
    const ahead = view.grids.every(
      (other, seat) => seat === view.seat || !other.length || worthOfGrid(other, unseen, 0) > mine,
    );
    if (!ahead) return 'skip';
  }
  return `flip ${grid.indexOf(null)}`;
}

function fourCardGolf(view) {
  const copies = view.grids.length < 5 ? 4 : 8;
  const pack = [0, 0, 0, 0, 0, 0, ...Array(13).fill(copies)];
  const unseen = unseenCards(view, pack, (rank) => POINTS[rank] || 0);
  const values = view.grids[view.seat].map((rank) => (rank === null ? unseen.mean : POINTS[rank]));
  const most = Math.max(...values);
  const worst = values.indexOf(most);
  if (view.phase === 'drawn') return POINTS[view.drawn] < most ? `swap ${worst}` : 'discard';
  const sum = values.reduce((all, value) => all + value, 0);
  if (sum <= 5 && view.ended_by === null) return 'knock';
  return most - POINTS[view.discard] >= 3 ? `take ${worst}` : 'draw';
}

function answer(message) {
  if (message.type === 'hello') return { type: 'ready' };
  if (message.type !== 'act') return null;
  const { view } = message;
  return { turn: message.turn, move: view.known ? fourCardGolf(view) : playNine(view) };
}

// Lines may come in pieces and several at once. The end of input ends the program by itself.
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.type === 'bye') process.exit(0);
    const reply = answer(message);
    if (reply) process.stdout.write(`${JSON.stringify(reply)}\n`);
  }
});
