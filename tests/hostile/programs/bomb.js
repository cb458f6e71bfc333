// A bomb of processes and worker threads: bomb.js WAY COUNT, ended after 20 s.
"use strict";
const fs = require("fs");
const { spawn } = require("child_process");
const { Worker } = require("worker_threads");
const [way, count] = [process.argv[2], Number(process.argv[3])];
setTimeout(() => process.exit(), 20000);
fs.writeSync(1, "up\n");
const refused = (error) => fs.writeSync(1, `refused ${error.code || error.message}\n`);
for (let i = 0; i < count; i++) {
  try {
    if (way === "processes") {
      spawn("/bin/sleep", ["20"], { stdio: "ignore" }).on("error", refused);
    } else {
      new Worker("setInterval(() => {}, 1000)", { eval: true }).on("error", refused);
    }
  } catch (error) {
    refused(error);
  }
}
