#!/usr/bin/python3
"""A compiler that compiles a program once for all tests: the second time it copies what it made.

Called by the compiler's own name, from a folder before all others in PATH; REAL_PATH has those
others, COMPILED the folder for what was made. What is compiled is known by the words of the
command, but for the name of the output, and by all files of the folders that it can see.

With PLAINLY in the environment C++ and Rust are compiled as they stand: of that nothing depends but how long
it takes, and how fast the program is.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

words = sys.argv[1:]
tool = shutil.which(Path(sys.argv[0]).name, path=os.environ["REAL_PATH"])
environment = {**os.environ, "PATH": os.environ["REAL_PATH"]}
if "-o" not in words:
    os.execve(tool, [tool, *words], environment)
if os.environ.get("PLAINLY"):
    words = [{"-O3": "-O0", "-O": "-Copt-level=0"}.get(word, word) for word in words]
at = words.index("-o") + 1
output = Path(words[at])
digest = hashlib.sha256(tool.encode())
folders = set()
for word in words[:at] + words[at + 1 :]:
    path = Path(word.removeprefix("-I"))
    # Copies of one folder are one.
    digest.update(b"\0" + (path.name if path.exists() else word).encode())
    if path.exists():
        folders.add(path.resolve() if path.is_dir() else path.resolve().parent)
for file in sorted(file for folder in folders for file in folder.iterdir() if file.is_file()):
    if file.suffix in (".c", ".cpp", ".h", ".rs", ".go"):
        digest.update(b"\0" + file.name.encode() + b"\0" + file.read_bytes())
made = Path(os.environ["COMPILED"], digest.hexdigest())
with made.with_suffix(".lock").open("w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not made.exists():
        done = subprocess.run([tool, *words], check=False, env=environment)
        if done.returncode:
            sys.exit(done.returncode)
        shutil.copy2(output, made.with_suffix(".new"))
        made.with_suffix(".new").rename(made)
    else:
        shutil.copy2(made, output)
