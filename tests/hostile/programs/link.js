// Follows a symbolic link in its own folder that leads out of it.
const fs = require('node:fs');

try {
  console.log('BROKE ' + fs.readFileSync('/bot/link'.replace('/bot', process.cwd()), 'utf8').trim());
} catch (error) {
  console.log('HELD ' + error.code);
}
