// JIT, garbage collector, promises, timers, crypto, compression, streams.
"use strict";
const assert = require("assert");
const crypto = require("crypto");
const os = require("os");
const zlib = require("zlib");

function sieve(n) {
  const seen = new Uint8Array(n + 1);
  let count = 0;
  for (let i = 2; i <= n; i++) {
    if (seen[i]) continue;
    count++;
    for (let j = i * 2; j <= n; j += i) seen[j] = 1;
  }
  return count;
}
assert.strictEqual(sieve(2000000), 148933);
let garbage = [];
for (let i = 0; i < 300000; i++) {
  garbage.push({ i, s: "card" + i });
  if (garbage.length > 50000) garbage = [];
}
assert.strictEqual(new Date(0).getHours(), 0);
assert.strictEqual(os.platform(), "linux");
assert(os.cpus().length >= 1);
assert.strictEqual((1234.5).toLocaleString("en-US"), "1,234.5");
const depth = (n) => (n === 0 ? 0 : 1 + depth(n - 1));
assert.strictEqual(depth(5000), 5000);
const { promisify } = require("util");
(async () => {
  const delays = Array.from({ length: 100 }, (_, i) => new Promise((r) => setTimeout(r, i % 7)));
  await Promise.all(delays);
  const packed = await promisify(zlib.gzip)("x".repeat(100000));
  assert.strictEqual(zlib.gunzipSync(packed).length, 100000);
  const key = await promisify(crypto.pbkdf2)("a", "b", 1000, 32, "sha256");
  assert.strictEqual(key.length, 32);
  assert.notStrictEqual(crypto.randomUUID(), crypto.randomUUID());
  console.log("OK");
})();
