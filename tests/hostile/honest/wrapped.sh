# A bot whose command is a script: what it starts are children, not the program itself.
set -eu
if command -v python3 >/dev/null; then
  python3 -c 'import os, threading; t = threading.Thread(target=os.getpid); t.start(); t.join()'
fi
if command -v node >/dev/null; then
  node -e 'const w = new (require("worker_threads").Worker)("1", { eval: true })'
fi
if command -v java >/dev/null; then
  java -version 2>/dev/null
fi
if command -v perl >/dev/null; then
  perl -e 'exit(`echo x` eq "x\n" ? 0 : 1)'
fi
echo OK
