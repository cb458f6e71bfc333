"""Guess a bot's language from its command and files; how to flush, log and read there. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec


class Language(msgspec.Struct, frozen=True):
    """Advice on standard output and input."""

    name: str
    flush: str
    log: str
    read: str = "Read line by line, without a block-wise reader in front of it."


_ANY = Language("", "Flush standard output after every line.", "")

ADVICE: Mapping[str, Language] = MappingProxyType(
    {
        "python": Language(
            "Python",
            "In Python: print(answer, flush=True).",
            "In Python: print(text, file=sys.stderr).",
            "In Python: `for line in sys.stdin` or input(), never sys.stdin.read().",
        ),
        "node": Language(
            "JavaScript",
            "In Node: process.stdout.write(line) in one piece, and no process.exit() after it.",
            "In Node: console.error(text).",
            'In Node: readline on process.stdin, with its "line" event.',
        ),
        "c": Language(
            "C",
            "In C: fflush(stdout) after each answer, or once setvbuf(stdout, NULL, _IOLBF, 0).",
            "In C: fprintf(stderr, …).",
            "In C: fgets or getline, never fread.",
        ),
        "c++": Language(
            "C++",
            "In C++: std::cout << answer << std::endl (or << std::flush).",
            "In C++: std::cerr << text.",
            "In C++: std::getline(std::cin, line), and no std::ws after it.",
        ),
        "rust": Language(
            "Rust",
            "In Rust: std::io::stdout().flush()? after writeln!.",
            "In Rust: eprintln!(…).",
            "In Rust: for line in std::io::stdin().lock().lines().",
        ),
        "java": Language(
            "Java",
            "In Java: System.out.println (a PrintWriter or BufferedWriter needs flush()).",
            "In Java: System.err.println(text).",
            "In Java: BufferedReader.readLine().",
        ),
        "go": Language(
            "Go",
            "In Go: writer.Flush() on a bufio.Writer after each answer, or fmt.Println.",
            "In Go: fmt.Fprintln(os.Stderr, text).",
            "In Go: bufio.Scanner with Scan(), its buffer set to 64 KiB or more.",
        ),
        "perl": Language(
            "Perl",
            "In Perl: $| = 1; at the beginning.",
            "In Perl: print STDERR $text.",
            "In Perl: while (my $line = <STDIN>), never a list of all lines.",
        ),
        "awk": Language(
            "awk",
            "In awk: fflush() after each print; with mawk also -W interactive.",
            'In awk: print text > "/dev/stderr".',
            "mawk reads in blocks: run it as mawk -W interactive -f bot.awk.",
        ),
        "shell": Language(
            "shell",
            "The shell itself flushes; a program in a pipe doesn't: stdbuf -oL PROGRAM, "
            "sed -u, grep --line-buffered, jq --unbuffered.",
            "In a shell: echo text >&2.",
            "Read with `while IFS= read -r line`; what runs inside the loop needs </dev/null.",
        ),
        "ruby": Language(
            "Ruby",
            "In Ruby: $stdout.sync = true at the beginning.",
            "In Ruby: warn text.",
            "In Ruby: while line = $stdin.gets.",
        ),
        "lua": Language(
            "Lua",
            'In Lua: io.stdout:setvbuf("no") at the beginning, or io.stdout:flush().',
            "In Lua: io.stderr:write(text).",
            "In Lua: for line in io.lines().",
        ),
        "php": Language(
            "PHP",
            "In PHP: fflush(STDOUT), or fwrite(STDOUT, …) without output buffering.",
            "In PHP: fwrite(STDERR, $text).",
            "In PHP: fgets(STDIN).",
        ),
        "tcl": Language(
            "Tcl",
            "In Tcl: fconfigure stdout -buffering line, or flush stdout.",
            "In Tcl: puts stderr $text.",
            "In Tcl: while {[gets stdin line] >= 0}.",
        ),
    }
)

_PROGRAMS = (
    (r"python[\d.]*|pypy[\d.]*", "python"),
    (r"node(js)?|deno|bun", "node"),
    (r"java", "java"),
    (r"perl[\d.]*", "perl"),
    (r"[gm]?awk|busybox", "awk"),
    (r"(ba|da|z|k)?sh", "shell"),
    (r"ruby[\d.]*", "ruby"),
    (r"lua(jit)?[\d.]*", "lua"),
    (r"php[\d.]*", "php"),
    (r"tclsh[\d.]*", "tcl"),
)
_SOURCES = (
    (".rs", "rust"),
    (".go", "go"),
    (".cpp", "c++"),
    (".cc", "c++"),
    (".cxx", "c++"),
    (".c", "c"),
)


def language(run: Sequence[str], files: Iterable[str] = ()) -> Language:
    """By the interpreter that runs it, else by the sources beside its program."""
    program = posixpath.basename(run[0]) if run else ""
    for pattern, name in _PROGRAMS:
        if re.fullmatch(pattern, program):
            return ADVICE[name]
    names = [posixpath.basename(file) for file in files]
    for suffix, name in _SOURCES:
        if any(file.endswith(suffix) for file in names):
            return ADVICE[name]
    return _ANY


def in_language(advice: str, run: Sequence[str], files: Iterable[str] = ()) -> str:
    """Fill {flush}, {log} and {read} in an advice."""
    spoken = language(run, files)
    for key in ("flush", "log", "read"):
        advice = advice.replace(f"{{{key}}}", getattr(spoken, key))
    return advice.strip()
