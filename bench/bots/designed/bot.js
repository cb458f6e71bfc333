// The designs of bot.py in JavaScript, written again from its description: a port to compare with.
'use strict';

const fs = require('fs');
const readline = require('readline');

const design = JSON.parse(fs.readFileSync('design.json', 'utf8'));
const POINTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0];
const COMBINATION = [0, 0, -10, -15, -20];
const NUMBERS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -5];
const EIGHT = [0, 1, 2, 3, 4, 5, 6, 7];
const TINY = 1e-9;

let state = 1;
function lot(n) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % n;
}

// One of several places, by a rule.
function pick(rule, places, grid) {
  const partner = (at) => grid[at ^ 4];
  const among = (test) => places.find(test) ?? places[0];
  const least = (key) => places.reduce((best, at) => (key(at) < key(best) ? at : best));
  switch (rule) {
    case 'last': return places[places.length - 1];
    case 'hidden': return among((at) => grid[at] === null);
    case 'open': return among((at) => grid[at] !== null);
    case 'beside-open': return among((at) => partner(at) !== null);
    case 'beside-hidden': return among((at) => partner(at) === null);
    case 'beside-low': return least((at) => partner(at) ?? 5.6);
    case 'beside-high': return least((at) => -(partner(at) ?? 5.6));
    case 'column': return least((at) => at % 4);
    default: return places[0];
  }
}

function table(view) {
  const left = Array(18).fill(0);
  for (const card of NUMBERS) left[card + 5] = card === -5 ? 4 : 8;
  const seen = [...view.grids.flat(), ...view.pile, ...view.recycled, view.drawn];
  for (const card of seen) if (card !== null) left[card + 5] -= 1;
  const total = Math.max(1, left.reduce((a, b) => a + b, 0));
  let unknown = design.unknown;
  if (design.counts) unknown = NUMBERS.reduce((sum, card) => sum + card * left[card + 5], 0) / total;

  function worth(grid) {
    const matched = {};
    for (let c = 0; c < 4; c += 1) {
      if (grid[c] !== null && grid[c] === grid[c + 4]) matched[grid[c]] = (matched[grid[c]] ?? 0) + 1;
    }
    let sum = 0;
    for (const [card, columns] of Object.entries(matched)) {
      if (card === '-5') sum -= 10 * columns;
      if (design.combos) sum += COMBINATION[columns];
    }
    for (let c = 0; c < 4; c += 1) {
      const pair = [grid[c], grid[c + 4]];
      if (pair[0] !== null && pair[0] === pair[1]) continue;
      const known = pair.filter((card) => card !== null);
      const base = pair.reduce((s, card) => s + (card === null ? unknown : design.values[card + 5]), 0);
      let value = base;
      for (const card of known) {
        let match = card === -5 ? -10 : 0;
        if (design.combos) {
          const columns = matched[card] ?? 0;
          match += COMBINATION[columns + 1] - COMBINATION[columns];
        }
        const chance = design.counts ? left[card + 5] / total : 0.07;
        value -= design.hope * chance * Math.max(0, base - match);
      }
      if (known.length === 1) value += design.half * known[0];
      sum += value;
    }
    return sum;
  }

  function best(grid, card) {
    const now = worth(grid);
    const saved = EIGHT.map((at) => now - worth(Object.assign([...grid], { [at]: card })));
    if (design.place === 'rules') {
      const at = byRules(grid, card);
      return [saved[at], at];
    }
    const most = Math.max(...saved);
    return [most, pick(design.ties, EIGHT.filter((at) => saved[at] > most - TINY), grid)];
  }

  function byRules(grid, card) {
    const open = EIGHT.filter((at) => grid[at] !== null);
    const beside = open.find((at) => grid[at] === card && grid[at ^ 4] !== card);
    if (beside !== undefined) return beside ^ 4;
    const free = open.filter((at) => grid[at] !== grid[at ^ 4]);
    const hidden = EIGHT.filter((at) => grid[at] === null);
    const high = Math.max(-9, ...free.map((at) => grid[at]));
    if ((free.length && high > card + design.above) || !hidden.length) {
      const some = free.length ? free : open;
      return some.reduce((a, at) => (grid[at] > grid[a] ? at : a));
    }
    return pick(design.flip, hidden, grid);
  }

  return { left, total, worth, best };
}

function nine(view) {
  if (view.phase === 'tee') {
    if (design.tee !== 'lot') return `tee ${design.tee}`;
    const one = lot(8);
    const two = (one + 1 + lot(7)) % 8;
    return `tee ${Math.min(one, two)} ${Math.max(one, two)}`;
  }
  const { left, total, worth, best } = table(view);
  const mine = view.grids[view.seat];
  const others = view.grids.filter((grid, seat) => seat !== view.seat && grid.length);
  const hidden = EIGHT.filter((at) => mine[at] === null);
  const last = view.ended_by !== null;
  const near = Math.min(...others.map((grid) => grid.filter((card) => card === null).length));
  const ease = near <= design.rush || last ? design.eager : 0;
  if (view.phase === 'turn') {
    const card = view.discard;
    const [saving, place] = best(mine, card);
    let take;
    if (design.take === 'card') {
      take = card <= design.limit + ease || EIGHT.some((at) => mine[at] === card && mine[at ^ 4] !== card);
    } else if (design.take === 'ahead') {
      const drawn = NUMBERS.filter((each) => left[each + 5])
        .reduce((sum, each) => sum + left[each + 5] * Math.max(0, best(mine, each)[0]), 0);
      take = saving > (drawn / total) * design.patience + design.limit - 3 - ease;
    } else {
      take = saving > design.limit - ease + TINY;
    }
    return take && saving > -5 ? `take ${place}` : 'draw';
  }
  const card = view.drawn;
  const [saving, place] = best(mine, card);
  const after = view.grids[(view.seat + 1) % view.grids.length];
  const fed = after.some((each, at) => each === card && after[at ^ 4] !== card) ? design.feed : 0;
  if (saving + fed > design.swap - ease + TINY) return `swap ${place}`;
  if (hidden.length === 1 && !last) {
    const [rule, bar] = design.skip;
    const lead = Math.min(...others.map(worth)) - worth(mine);
    if ((rule === 'above' && worth(mine) > bar) || (rule === 'behind' && lead < bar)) return 'skip';
  }
  return `flip ${design.flip === 'lot' ? hidden[lot(hidden.length)] : pick(design.flip, hidden, mine)}`;
}

function four(view) {
  const own = design.four;
  const grid = view.grids[view.seat];
  const values = grid.map((card) => (card === null ? own.unknown : POINTS[card]));
  const unknown = [0, 1, 2, 3].filter((at) => grid[at] === null);
  const ahead = (at, best) => values[at] > values[best] || (own.ties === 'last' && values[at] === values[best]);
  let worst = [0, 1, 2, 3].reduce((best, at) => (ahead(at, best) ? at : best));
  if (own.learn && unknown.length) {
    const known = Math.max(0, ...values.filter((_, at) => grid[at] !== null));
    if (known <= own.learn) worst = unknown[own.ties === 'last' ? unknown.length - 1 : 0];
  }
  if (view.phase === 'turn') {
    const bar = own.knock + (view.turns[view.seat] > own.late ? own.relax : 0);
    const sum = values.reduce((a, b) => a + b, 0);
    if (view.ended_by === null && sum <= bar && unknown.length <= own.blind) return 'knock';
    return values[worst] - POINTS[view.discard] > own.take ? `take ${worst}` : 'draw';
  }
  return values[worst] - POINTS[view.drawn] > own.swap ? `swap ${worst}` : 'discard';
}

let game = '';
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'hello') {
    game = message.game;
    console.log('{"type":"ready"}');
  } else if (message.type === 'match') {
    state = message.seed;
  } else if (message.type === 'act') {
    let move = game === 'play-nine' ? nine(message.view) : four(message.view);
    if (!message.legal.includes(move)) [move] = message.legal;
    console.log(JSON.stringify({ turn: message.turn, move }));
  } else if (message.type === 'bye') {
    process.exit(0);
  }
});
