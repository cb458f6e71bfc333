// Take memory until refused or until so many MB are held: memory.js WAY MB.
"use strict";
const fs = require("fs");
const say = (...words) => fs.writeSync(1, words.join(" ") + "\n");
const [way, mb] = [process.argv[2], Number(process.argv[3])];
setTimeout(() => process.exit(), 20000);
say("up");
const kept = [];
let held = 0;

function grow() {
  try {
    if (way === "buffers") kept.push(Buffer.alloc(8 << 20, 1));
    else if (way === "heap") {
      const block = [];
      for (let i = 0; i < 1 << 17; i++) block.push({ i, text: "x" + i });
      kept.push(block);
    } else if (way === "shared") {
      const block = new Uint8Array(new SharedArrayBuffer(8 << 20));
      block.fill(1);
      kept.push(block);
    } else {
      // Wasm memories reserve addresses and grow into them.
      const block = new WebAssembly.Memory({ initial: 128, maximum: 256 });
      new Uint8Array(block.buffer).fill(1);
      kept.push(block);
    }
  } catch (error) {
    say("refused", held, error.message);
    return;
  }
  held += 8;
  if (held >= mb) say("done", held);
  else setImmediate(grow);
}
grow();
