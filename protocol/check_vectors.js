#!/usr/bin/env node
// Whether verify_deals.js computes what vectors/deals.json says: node protocol/check_vectors.js
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { Deals, shuffled, packBytes, fingerprint, pairingOf, commitmentOf, canonical, spelled, sha256 } =
  require('./verify_deals.js');

const text = fs.readFileSync(path.join(__dirname, 'vectors', 'deals.json'), 'utf8');
const vectors = JSON.parse(text);
const { match } = vectors;
const deals = new Deals(vectors.secret);
const upTo = (n) => [...Array(n).keys()];

assert.equal(sha256(`nine-arena/1/seed/${vectors.seed}`), vectors.secret);
const { key, items, order } = vectors.shuffled;
assert.deepEqual(shuffled(upTo(items), Buffer.from(key, 'hex')), order);

for (const { game, seats, pairing, deal, hole, cards, reshuffle } of vectors.decks) {
  assert.deepEqual(deals.pack(game, seats, pairing, deal, hole), cards);
  const again = deals.key(`deck/${pairing}/${deal}/${hole}/${reshuffle.number}`);
  assert.deepEqual(shuffled(reshuffle.of, again), reshuffle.cards);
}
assert.equal(fingerprint(vectors.decks.slice(0, 2).map((deck) => packBytes(deck.cards))), vectors.fingerprint);

const { circle, rotations } = vectors;
assert.deepEqual(deals.circle(circle.pairing, circle.deal, circle.entrants), circle.order);
assert.deepEqual(deals.rotations(rotations.pairing, rotations.deal, rotations.seats), rotations.order);
const { matches, played } = vectors.series;
assert.deepEqual([...matches].sort((a, b) => Buffer.compare(deals.place(a), deals.place(b))), played);

const { beacon, pairing } = vectors;
assert.equal(pairingOf(pairing.entrants), pairing.id);
assert.equal(new Deals(vectors.secret, beacon.value).secret.toString('hex'), beacon.instead);

vectors.seeds.forEach((seed, seat) => {
  assert.equal(deals.stream(`seed/${match}/${seat}`, 4).readUInt32BE() >>> 1, seed);
});
assert.equal(deals.stream(`name/${match}`, 8).toString('hex'), vectors.name);
for (const id of vectors.turn_ids) {
  const question = parseInt(id, 10);
  const bytes = [...deals.stream(`turn/${match}`, 4 * question + 4).subarray(-4)];
  const letters = bytes.map((byte) => '0123456789abcdefghjkmnpqrstvwxyz'[byte % 32]);
  assert.equal(`${question}-${letters.join('')}`, id);
}
const { entrants, value } = vectors.commitment;
assert.equal(commitmentOf(entrants, vectors.secret, canonical(spelled(text).scommitment.ssettings)), value);
console.log('agrees with every vector');
