// Lowers the priority of a process, another one's or, with 0, its own.
const os = require('node:os');

try {
  os.setPriority(Number(process.argv[2]), 7);
  console.log('BROKE priority ' + os.getPriority(Number(process.argv[2])));
} catch (error) {
  console.log('HELD ' + error.code);
}
