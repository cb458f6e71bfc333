// Renames, empties or removes a file of the user.
const fs = require('node:fs');

const [folder, file] = process.argv.slice(2);
const tries = {
  truncate: () => fs.truncateSync(file, 0),
  rename: () => fs.renameSync(file, folder + '/stolen'),
  unlink: () => fs.unlinkSync(folder + '/stolen'),
};
const done = [];
const refused = [];
for (const [name, act] of Object.entries(tries)) {
  try {
    act();
    done.push(name);
  } catch (error) {
    refused.push(`${name} ${error.code}`);
  }
}
console.log(done.length ? 'BROKE ' + done.join(' ') : 'HELD ' + refused.join(', '));
