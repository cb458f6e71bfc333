// Connects to a local socket by its path and prints what it is told.
const net = require('node:net');

const socket = net.connect({ path: process.argv[2] });
socket.on('data', (said) => {
  console.log('BROKE ' + said.toString().trim());
  process.exit();
});
socket.on('error', (error) => console.log('HELD ' + error.code));
socket.on('close', (failed) => failed || console.log('HELD nothing was said'));
