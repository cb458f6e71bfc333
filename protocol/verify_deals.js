#!/usr/bin/env node
// A second verifier of an event's deals, written from DEALS.md alone and sharing no code with the
// arena: node, its standard library, nothing else.
//
//     node protocol/verify_deals.js DIR
//
// It proves that the cards were not chosen: every line is as it was written, the secret is the one
// that was committed to, each match's seats and packs follow from it, and no match is there twice.
// Whether one is missing, the moves are legal and the scores right is for `arena verify`. Exit code 0:
// agrees, 1: differs (the first difference, with its line), 2: can't tell. `check_vectors.js` tries it
// on the test vectors.
'use strict';
const { isUtf8 } = require('node:buffer');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const LONGEST_LINE = 16 << 20; // more than any record: what is longer is no line of ours
const MOST_DEALS = 1000000; // of any pairing
const NEWEST_RULE = 2;
const HOLES = 9;
// Settings that came with rule 2; the last four are a comparison's.
const RULED = ['deal_order', 'units', 'withdraw_after', 'annul_below', 'holes', 'predictable', 'withdrawn', 'retired', 'name', 'options', 'ladder', 'forfeits', 'skew', 'mixture', 'no_worse'];
const KEPT = 50000; // packs kept: a deal comes again with its other rotations

class Differs extends Error {}
class Cannot extends Error {}

// ------------------------------------------------------------------------------------ bytes

const CRC = new Uint32Array(256).map((_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc32(bytes) {
  let crc = ~0;
  for (let i = 0; i < bytes.length; i++) crc = CRC[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ((~crc) >>> 0).toString(16).padStart(8, '0');
}

const sha256 = (data) => createHash('sha256').update(data).digest('hex');

/** The object of a line, its checksum found right and taken off, as text. */
function unsealed(line) {
  const tail = ',"check":"00000000"}'.length;
  const body = line.subarray(0, Math.max(0, line.length - tail));
  if (line.subarray(body.length).toString('latin1') !== `,"check":"${crc32(body)}"}`) {
    throw new Differs('its checksum does not match its content');
  }
  if (!isUtf8(body)) throw new Differs('it is not UTF-8');
  return `${body}}`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Differs('it is not JSON');
  }
}

/** JSON whose numbers keep their spelling (25.0 is not 25): strings as "s…", numbers as "n…". */
const spelled = (text) =>
  parsed(text.replace(/"((?:[^"\\]|\\.)*)"|-?\d[\d.eE+-]*/g, (all, inner) =>
    inner === undefined ? `"n${all}"` : `"s${inner}"`));

/** Order of code points, which is that of UTF-8 bytes and not that of JavaScript's strings. */
const ascending = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Canonical JSON of what `spelled` returned. */
function canonical(value) {
  if (typeof value === 'string') return value[0] === 'n' ? value.slice(1) : JSON.stringify(value.slice(1));
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort(ascending);
  return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key])}`).join(',')}}`;
}

/** The text of a member of the object that a text is; of several of its name the last, as in `parsed`. */
function memberOf(text, name) {
  let found, key, from, to, depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[^\s"]/g)) {
    if (depth === 1 && (token === ',' || token === '}')) {
      if (key === name) found = text.slice(from, to);
      key = from = undefined;
    } else if (depth === 1 && key === undefined) {
      key = JSON.parse(token);
    } else if (from === undefined && !(depth === 1 && token === ':')) {
      from = depth ? index : undefined;
    }
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    to = index + token.length;
  }
  return found;
}

// ---------------------------------------------------------------------------------- spelling

// What the members of a line are, in their order. One whose name ends in ? may be left out.
const TEXT = 'text', WHOLE = 'whole number', DECIMAL = 'decimal', TRUTH = 'true or false', AS_IS = 'as it is', TEXTS = 'texts by name';
const HOLE = { order: [WHOLE], moves: TEXT, scores: [WHOLE] };
const HOST = { memory_mb: DECIMAL, cpu_ms: DECIMAL, wall_ms: DECIMAL, charged_ms: DECIMAL, load: DECIMAL };
const FAULT = {
  kind: TEXT, seat: WHOLE, hole: WHOLE, turn: WHOLE, message: TEXT, line: TEXT, stderr: TEXT, status: TEXT, host: HOST,
};
const USE = {
  decisions: WHOLE, think_ms: DECIMAL, max_ms: DECIMAL, off_turn_ms: DECIMAL, waited_ms: DECIMAL, 'stopped?': WHOLE,
};
const RECORD = {
  id: TEXT, series: TEXT, pairing: TEXT, deal: WHOLE, rotation: WHOLE, seats: [TEXT], deck: TEXT, holes: [HOLE],
  totals: [WHOLE], places: [WHOLE], faults: [FAULT], digest: TEXT, attempt: WHOLE, use: [USE], luck: [WHOLE],
  ended: DECIMAL,
};
// And those of event.json, sorted.
const MACHINE = { arena: TEXT, cores: WHOLE, cpu: TEXT, python: TEXT, 'speed?': WHOLE, system: TEXT };
const CONFINEMENT = { detail: TEXT, gaps: [TEXT], kept: [TEXT], memory: TEXT, not_kept: [TEXT], 'tool?': TEXT };
const EVENT = {
  beacon: TEXT, commitment: TEXT, confinement: CONFINEMENT,
  entrants: [{ author: TEXT, 'content?': TEXT, hash: TEXT, id: TEXT, name: TEXT, 'params?': TEXTS, version: TEXT }],
  finished: TRUTH, format: WHOLE, machine: MACHINE, machines: [MACHINE], not_run: [{ name: TEXT, reason: TEXT }],
  predictable: TRUTH, sandbox: TEXT, secret: TEXT, settings: AS_IS, shard: TEXT,
};

/** A decimal as an arena spells it: the fewest digits that give it back, .0 behind a whole one, an
 *  exponent where it is small. */
function decimal(number) {
  if (Object.is(number, -0)) return '-0.0';
  if (number && Math.abs(number) < 1e-5) return number.toExponential();
  return Number.isInteger(number) ? `${number}.0` : String(number);
}

/** What `spelled` returned, spelled as an arena does. */
function respelled(value, shape, asIs) {
  const fits = (truth) => {
    if (!truth) throw new Differs('a member is missing or something else');
  };
  if (shape === AS_IS) return asIs;
  if (shape === TEXTS) {
    const inner = value && typeof value === 'object' && !Array.isArray(value) ? value : {};
    return canonical(inner);
  }
  if (Array.isArray(shape)) {
    fits(Array.isArray(value));
    return `[${value.map((item) => respelled(item, shape[0], asIs)).join(',')}]`;
  }
  if (typeof shape === 'object') {
    fits(value && typeof value === 'object' && !Array.isArray(value));
    const members = Object.entries(shape).flatMap(([name, inner]) => {
      const [plain, optional] = [name.replace('?', ''), name.endsWith('?')];
      const member = value[`s${plain}`];
      return optional && member === undefined ? [] : [`"${plain}":${respelled(member, inner, asIs)}`];
    });
    return `{${members.join(',')}}`;
  }
  fits(typeof value === (shape === TRUTH ? 'boolean' : 'string'));
  if (shape === TRUTH) return String(value);
  const [kind, text] = [value[0], value.slice(1)];
  fits(kind === (shape === TEXT ? 's' : 'n'));
  if (shape === DECIMAL) return decimal(Number(text));
  fits(shape === TEXT ? !/\p{Surrogate}/u.test(text) : /^(0|-?[1-9]\d*)$/.test(text));
  return shape === TEXT ? JSON.stringify(text) : text;
}

/** From rule 2 on nothing stands in a line that encoding what it holds doesn't give. */
function asSpelled(text, shape, asIs = '') {
  const right = respelled(spelled(text), shape, asIs);
  if (right === text) return;
  let at = 0;
  while (at < text.length && text[at] === right[at]) at++;
  const [found, due] = [text, right].map((each) => shown(each.slice(Math.max(0, at - 20), at + 30)));
  throw new Differs(`it is not spelled as an arena does: ${found} for ${due}`);
}

/** For a terminal: what strangers wrote, in ASCII, and not too much of it. */
const shown = (value) =>
  String(JSON.stringify(value)).slice(0, 200).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

// ------------------------------------------------------------------------------------ deals

/** The list shuffled by the stream of `key` (a Buffer). */
function shuffled(items, key) {
  const list = [...items];
  let stream = Buffer.alloc(0);
  let at = 0;
  for (let i = list.length - 1; i > 0; i--) {
    const bound = 256 - (256 % (i + 1));
    let byte;
    do {
      if (at === stream.length) {
        stream = createHash('shake256', { outputLength: Math.max(272, 2 * at) }).update(key).digest();
      }
      byte = stream[at++];
    } while (byte >= bound);
    const j = byte % (i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

const copies = (card, times) => Array(times).fill(card);
const PACKS = {
  'play-nine': () => [...copies(-5, 4), ...Array.from({ length: 13 }, (_, n) => copies(n, 8)).flat()],
  'four-card-golf': (seats) => Array.from({ length: 13 }, (_, n) => copies(n + 1, seats < 5 ? 4 : 8)).flat(),
};

class Deals {
  /** `secret`: 64 hex digits. */
  constructor(secret, beacon = '') {
    this.secret = Buffer.from(secret, 'hex');
    if (beacon) this.secret = createHash('sha256').update(this.key(`beacon/${beacon}`)).digest();
  }

  key(label) {
    return Buffer.concat([this.secret, Buffer.from(`nine-arena/1/${label}`)]);
  }

  stream(label, bytes) {
    return createHash('shake256', { outputLength: bytes }).update(this.key(label)).digest();
  }

  pack(game, seats, pairing, deal, hole) {
    return shuffled(PACKS[game](seats), this.key(`deck/${pairing}/${deal}/${hole}`));
  }

  rotations(pairing, deal, seats) {
    return shuffled(Array(seats).keys(), this.key(`rotations/${pairing}/${deal}`));
  }

  /** What the matches of a series are sorted by, where `deal_order` is "shuffled". */
  place(match) {
    return this.stream(`order/${match}`, 8);
  }

  circle(pairing, deal, entrants) {
    return shuffled([...entrants].sort(ascending), this.key(`circle/${pairing}/${deal}`));
  }
}

/** The bytes of a pack that a fingerprint is made of. */
const packBytes = (cards) => Buffer.from(cards.map((card) => card + 5));

const fingerprint = (packs) =>
  sha256(Buffer.concat(packs.flatMap((pack, i) => (i ? [Buffer.from([255]), pack] : [pack])))).slice(0, 16);

const pairingOf = (entrants) => sha256(JSON.stringify([...entrants].sort(ascending))).slice(0, 12);

const matchOf = (pairing, deal, rotation) => `${pairing}-${String(deal).padStart(6, '0')}-${rotation}`;

/** `entrants`: [id, author, hash] of each; `settings`: their text. */
const commitmentOf = (entrants, secret, settings) => {
  const sorted = [...entrants].sort((a, b) => ascending(a[0], b[0]));
  return sha256(`{"entrants":${JSON.stringify(sorted)},"secret":"${secret}","settings":${settings}}`);
};

const digestOf = (record) =>
  sha256(JSON.stringify([
    record.id, record.seats, record.deck,
    record.holes.map((hole) => [hole.order, hole.moves, hole.scores]),
    record.totals, record.places,
    record.faults.map((fault) => [fault.kind, fault.seat, fault.hole, fault.turn]),
  ]));

// ----------------------------------------------------------------------------------- folder

function same(what, found, expected) {
  if (found !== expected) throw new Differs(`${what} is ${shown(found)}, but it follows that it is ${shown(expected)}`);
}

/** The lines of a file that end in a newline; what comes after the last one is a torn line. */
function* linesOf(file) {
  const info = fs.statSync(file);
  if (!info.isFile()) throw new Cannot(`${file}: not a regular file`);
  const descriptor = fs.openSync(file, 'r');
  const chunk = Buffer.alloc(1 << 20);
  let rest = Buffer.alloc(0);
  for (let size; (size = fs.readSync(descriptor, chunk)) > 0; ) {
    let from = 0;
    for (let to; (to = chunk.subarray(0, size).indexOf(10, from)) >= 0; from = to + 1) {
      yield Buffer.concat([rest, chunk.subarray(from, to)]);
      rest = Buffer.alloc(0);
    }
    rest = Buffer.concat([rest, chunk.subarray(from, size)]);
    if (rest.length > LONGEST_LINE) throw new Cannot(`${file}: a line of more than ${LONGEST_LINE} bytes`);
  }
  fs.closeSync(descriptor);
}

const isArray = (value, of) => Array.isArray(value) && value.every((item) => of(item));
const isText = (value) => typeof value === 'string';
const isParams = (value) => value !== null && typeof value === 'object' && Object.keys(value).length > 0
  && Object.entries(value).every(([name, text]) => /^[A-Za-z]\w{0,23}$/.test(name) && isText(text));
const isNumber = (value) => Number.isSafeInteger(value);
const SHAPE = {
  id: isText, series: isText, pairing: isText, deck: isText, digest: isText, deal: isNumber, rotation: isNumber,
  attempt: isNumber,
  seats: (value) => isArray(value, isText),
  holes: (value) => isArray(value, (h) => h && isArray(h.order, isNumber) && isText(h.moves) && isArray(h.scores, isNumber)),
  totals: (value) => isArray(value, isNumber),
  places: (value) => isArray(value, isNumber),
  faults: (value) => isArray(value, (f) => f && isText(f.kind) && [f.seat, f.hole, f.turn].every(isNumber)),
};

/** The line of a file that has exactly one. */
function onlyLine(file) {
  const [line = Buffer.alloc(0)] = linesOf(file);
  if (fs.statSync(file).size !== line.length + 1) throw new Differs('it is not exactly one line');
  return line;
}

/** Whether these members of the settings, given as text, are whole numbers without a point, if they are there. */
function areWhole(settings, names) {
  const members = (settings && spelled(settings)) || {};
  return names.map((name) => members[`s${name}`]).every((found) => found === undefined || (isText(found) && /^n\d+$/.test(found)));
}

/** An event, its commitment found right. */
function readEvent(file) {
  const line = onlyLine(file);
  const text = unsealed(line);
  const event = parsed(text);
  if (event.format !== 1) throw new Cannot(`${file}: written in format ${shown(event.format)}, this reads format 1`);
  if (event.secret === '') throw new Cannot(`${file}: the secret has not been revealed yet`);
  if (!/^[0-9a-f]{64}$/.test(event.secret)) throw new Differs('the secret is not 64 hex digits');
  const entrant = (e) => e && isText(e.id) && isText(e.author) && isText(e.hash);
  const settings = memberOf(text, 'settings');
  const { game, seats, deals, derivation, deal_order: order, holes = HOLES } = event.settings || {};
  const rule = derivation === undefined ? 1 : derivation;
  const sound = areWhole(settings, ['seats', 'deals', 'derivation', 'holes']) && seats >= 2 && seats <= 8
    && isNumber(deals) && (derivation === undefined || derivation > 1);
  if (!sound || !isText(event.beacon) || !isArray(event.entrants, entrant)) {
    throw new Differs('it is not an event');
  }
  if (!Object.hasOwn(PACKS, game)) throw new Cannot(`${file}: the packs of ${shown(game)} are not known here`);
  if (rule > NEWEST_RULE) throw new Cannot(`${file}: of rule ${shown(rule)}, this knows those up to ${NEWEST_RULE}`);
  if (order !== undefined && order !== 'shuffled') throw new Cannot(`${file}: the order of deals ${shown(order)} is not known here`);
  if (holes !== HOLES) throw new Cannot(`${file}: matches of ${holes} holes are not known here`);
  if (rule > 1) {
    asSpelled(text, EVENT, settings);
    same('predictable', event.predictable, event.settings.predictable);
  } else {
    const stated = { ...event.settings, ...event.settings.trial };
    const later = RULED.find((name) => Object.hasOwn(stated, name));
    if (later) throw new Differs(`its settings have ${later}, and name no derivation`);
  }
  for (const { id, hash, content, params } of event.entrants) {
    if (content === undefined && params === undefined) continue;
    const sorted = isParams(params) && Object.keys(params).sort(ascending).map((name) => [name, params[name]]);
    const setting = sorted && JSON.stringify(Object.fromEntries(sorted));
    if (!setting || !isText(content)) throw new Differs(`${shown(id)} has no content or no parameters`);
    same(`the hash of ${shown(id)}`, hash, sha256(`{"content":${JSON.stringify(content)},"params":${setting}}`));
  }
  const entrants = event.entrants.map((e) => [e.id, e.author, e.hash]);
  same('the commitment', event.commitment, commitmentOf(entrants, event.secret, settings));
  return event;
}

/** The seats of the one match that was played, as they were chosen. */
function chosenSeats(event, ids) {
  const first = (event.settings.heroes || []).filter((id) => ids.has(id));
  return [...new Set([...first, ...[...ids].sort(ascending)])];
}

/** A function that checks a record of an event; `pairings` gets the playings of each. */
function checker(event, pairings) {
  const { game, seats, format } = event.settings;
  // What results decide on goes beyond the deals that it begins with.
  const deals = ['racing', 'trial', 'ladder'].includes(format) ? MOST_DEALS : event.settings.deals;
  const drawn = new Deals(event.secret, event.beacon);
  const ids = new Set(event.entrants.map((entrant) => entrant.id));
  const chosen = event.settings.format === 'single' ? chosenSeats(event, ids) : null;
  const packs = new Map();

  /** Take in a playing of a match, of which there may be no other. */
  function once({ id, pairing, deal, rotation, attempt }) {
    const playing = `${deal}-${rotation}-${attempt}`;
    if (!pairings.has(pairing)) pairings.set(pairing, new Set());
    if (pairings.get(pairing).has(playing)) throw new Differs(`attempt ${attempt} of ${shown(id)} is there a second time`);
    pairings.get(pairing).add(playing);
  }

  /** The bytes of a pack: made once for the rotations of a deal, if they are not too far apart. */
  function pack(pairing, deal, hole) {
    const name = `${pairing}-${deal}-${hole}`;
    if (!packs.has(name)) {
      if (packs.size >= KEPT) packs.clear();
      packs.set(name, packBytes(drawn.pack(game, seats, pairing, deal, hole)));
    }
    return packs.get(name);
  }

  return (record) => {
    for (const [field, fits] of Object.entries(SHAPE)) {
      if (!record || !fits(record[field])) throw new Differs(`no record: ${field} is missing or something else`);
    }
    const { pairing, deal, rotation } = record;
    same('the number of seats', record.seats.length, seats);
    for (const id of record.seats) if (!ids.has(id)) throw new Differs(`${shown(id)} is not an entrant`);
    if (new Set(record.seats).size !== seats) throw new Differs('somebody sits in two seats');
    if (deal < 0 || deal >= deals) throw new Differs(`deal ${deal} is not one of the ${deals} that there can be`);
    if (rotation < 0 || rotation >= seats) throw new Differs(`there is no rotation ${rotation}`);
    if (record.holes.length > 18) throw new Differs(`${record.holes.length} holes`);
    same('the pairing', pairing, pairingOf(record.seats));
    same('the id', record.id, matchOf(pairing, deal, rotation));
    const [block, place] = record.series.split('-s');
    const series = chosen ? 0 : drawn.rotations(pairing, deal, seats).indexOf(rotation);
    same('the number of its series', place, String(series));
    const first = Number(block.slice(13));
    if (block !== matchOf(pairing, first, '').slice(0, -1) || !(first <= deal)) throw new Differs(`a deal of no series ${shown(record.series)}`);
    if (chosen && (deal !== 0 || rotation !== 0)) throw new Differs('a second match of an event of one');
    const circle = chosen || drawn.circle(pairing, deal, record.seats);
    const seated = circle.map((_, seat) => circle[(seat + rotation) % seats]);
    same('the seating', JSON.stringify(record.seats), JSON.stringify(seated));
    const dealt = record.holes.map((_, i) => pack(pairing, deal, i + 1));
    same('the fingerprint of the packs', record.deck, fingerprint(dealt));
    same('the digest', record.digest, digestOf(record));
    once(record);
  };
}

/** Checks a folder; its verdict in a line. */
function verify(folder) {
  let file = path.join(folder, 'event.json');
  let number = 1;
  try {
    const event = readEvent(file);
    const pairings = new Map();
    const check = checker(event, pairings);
    file = path.join(folder, 'matches.jsonl');
    number = 0;
    let holes = 0;
    for (const line of linesOf(file)) {
      number++;
      const text = unsealed(line);
      const record = parsed(text);
      check(record);
      if (event.settings.derivation > 1) asSpelled(text, RECORD);
      holes += record.holes.length;
    }
    if (number === 0) throw new Differs('it has no record, though the event is over');
    const predictable = event.predictable
      ? '; the secret came from a seed: anybody could know the deals'
      : event.settings.derivation > 1 ? '' : '; that the secret came from no seed is not proven';
    return `agrees: ${number} records, ${pairings.size} pairings, ${holes} packs${predictable}; whether a match is missing is for \`arena verify\``;
  } catch (error) {
    if (error instanceof Differs) error.message = `${file}:${number}: ${error.message}`;
    throw error;
  }
}

function main(words) {
  try {
    if (words.length !== 1) throw new Cannot('usage: node verify_deals.js DIR');
    console.log(verify(words[0]));
  } catch (error) {
    process.exitCode = error instanceof Differs ? 1 : 2;
    if (error instanceof Differs) console.log(`differs: ${error.message}`);
    else console.error(`can't tell: ${error.message}`);
  }
}

if (require.main === module) main(process.argv.slice(2));
else module.exports = { Deals, shuffled, packBytes, fingerprint, pairingOf, commitmentOf, canonical, spelled, sha256, memberOf, SHAPES: { RECORD, EVENT }, RULED };
