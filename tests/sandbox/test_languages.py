"""Interpreters and compilers start and answer inside, with the default limits."""

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

JAVA = """
import java.util.Scanner;
public class Bot {
    public static void main(String[] a) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) { System.out.println("got " + in.nextLine()); System.out.flush(); }
    }
}
"""
NODE = "require('readline').createInterface({input: process.stdin}).on('line',"
NODE += " l => console.log('got ' + l))"

INTERPRETERS = {
    "python3": ("/usr/bin/python3", "-c", "while True: print('got', input(), flush=True)"),
    "bash": ("bash", "-c", 'while read -r x; do echo "got $x"; done'),
    "awk": ("awk", '{ print "got", $0; fflush() }'),
    "perl": ("perl", "-e", '$|=1; while (<STDIN>) { print "got $_" }'),
    "node": ("node", "-e", NODE),
    "java": ("java", "/bot/Bot.java"),
}


@pytest.mark.parametrize("language", INTERPRETERS)
def test_interpreter(host, anybwrap, language):
    """The system's interpreter reads a line and answers it."""
    run = INTERPRETERS[language]
    found = shutil.which(run[0], path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        pytest.skip(f"no {language} here")
    if language == "awk":
        # awk would read the token as a file.
        run = ("/bin/sh", "-c", f"exec awk '{run[1]}'")
    bot = host.start(anybwrap, *run, files={"Bot.java": JAVA})
    bot.write(b"a line\n")
    if language == "awk":
        bot.close_stdin()  # some read ahead until the end
    assert bot.line() == "got a line"


def built(host, backend, folder, *run, **options):
    build = host.start(
        backend, *run, root=folder, writable=True, memory_mb=2048, file_mb=256, **options
    )
    exited = build.exited()
    assert exited.code == 0, build.errors()
    bot = host.start(backend, "/bot/out", root=folder)
    return bot.line()


def test_c_build(host, anybwrap, tmp_path):
    """A C program is built inside and then runs."""
    if not Path("/usr/bin/gcc").exists():
        pytest.skip("no gcc here")
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("C"); }\n')
    run = ("/bin/sh", "-c", "gcc -O2 -o out a.c")
    assert built(host, anybwrap, folder, *run) == "C"


def test_rust_build(host, anybwrap, tmp_path):
    """A Rust package is built by cargo inside, offline, with a toolchain from a private home."""
    if shutil.which("rustc") is None or shutil.which("cargo") is None:
        pytest.skip("no Rust here")
    ask = ["rustc", "--print", "sysroot"]
    shown = subprocess.run(ask, capture_output=True, text=True, check=False)
    if shown.returncode:
        pytest.skip("no usable Rust toolchain")
    folder = tmp_path / "rust"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text('[package]\nname = "bot"\nversion = "1.0.0"\n')
    (folder / "src" / "main.rs").write_text('fn main() { println!("Rust"); }\n')
    run = ("/bin/sh", "-c", "cargo build --offline --release && cp target/release/bot out")
    options = {"expose": (shown.stdout.strip(),), "env": {"CARGO_HOME": "/tmp/cargo"}}
    assert built(host, anybwrap, folder, *run, **options) == "Rust"
