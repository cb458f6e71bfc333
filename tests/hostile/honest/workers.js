// Worker threads with shared memory and Atomics, child processes, wasm.
"use strict";
const assert = require("assert");
const { execFile } = require("child_process");
const { Worker } = require("worker_threads");

const shared = new SharedArrayBuffer(1024);
const body = `
  const { workerData, parentPort } = require("worker_threads");
  const cells = new Int32Array(workerData);
  for (let i = 0; i < 1000; i++) Atomics.add(cells, 0, 1);
  Atomics.notify(cells, 0);
  parentPort.postMessage(cells[0] > 0);
`;
const worker = () =>
  new Promise((resolve, reject) => {
    const made = new Worker(body, { eval: true, workerData: shared });
    made.on("message", resolve).on("error", reject);
  });
// (module (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add))
const code = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100,
  100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11,
]);
(async () => {
  await Promise.all(Array.from({ length: 4 }, worker));
  assert.strictEqual(new Int32Array(shared)[0], 4000);
  const { instance } = await WebAssembly.instantiate(code);
  assert.strictEqual(instance.exports.add(2, 3), 5);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 100 });
  assert.strictEqual(memory.grow(10), 1);
  const output = await new Promise((resolve, reject) =>
    execFile("/bin/echo", ["hello"], (error, text) => (error ? reject(error) : resolve(text))));
  assert.strictEqual(output, "hello\n");
  console.log("OK");
})();
