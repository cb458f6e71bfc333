// mistake: exception
// names: TypeError: Cannot read properties of undefined
// run: node
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") console.log('{"type":"ready"}');
  if (message.type === "act") console.log(message.state.turn);
});
