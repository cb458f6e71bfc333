// mistake: left-early
// names: Read in a loop
// run: node
process.stdin.once("data", () => {
  process.stdout.write('{"type":"ready"}\n');
  process.stdin.pause();
});
