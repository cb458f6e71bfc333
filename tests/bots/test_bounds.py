"""Whatever a submission holds, each parse of it ends within a second of this process's time."""

import contextlib
import json
import time

import pytest

from arena.bots import load, locks, manifest, plain_text, toml
from arena.bots.commands import CommandError, shebang
from arena.bots.locks import LockError
from arena.bots.locks.text import PACKAGES
from arena.bots.manifest import parse
from arena.bots.plain_text import BotError
from arena.bots.toml import MAX_PARTS, BoundsError

MB = 1 << 20
DOTS = ".".join("a" * 8_000) + " = 1"

MANIFESTS = {
    "dots": DOTS,
    "dots without a value": "a." * 8_000,
    "dots in a header": f"[{'.'.join('a' * 8_000)}]",
    "keys beneath each other": "\n".join(f"{'a.' * (i % 15)}b{i} = 1" for i in range(600)),
    "quoted dots": "'a'." * 4_000 + "a = 1",
    "arrays": "run = " + "[" * 16_000,
    "closed arrays": "run = " + "[" * 8_000 + "]" * 8_000,
    "inline tables": "a = " + "{a=" * 5_000,
    "lines": "\n" * 16_000,
    "unknown fields": "".join(f"a{i}=1\n" for i in range(2_000)),
    "unknown fields like known ones": "".join(f"versio{i}=1\n" for i in range(1_200)),
    "one long field": f"{'nmae' * 4_000} = 1",
    "a long text": f'name = "{"x" * 16_000}"',
    "a text for a command": f"run = '{'a ' * 8_000}'",
    "escapes": 'name = "' + "\\n" * 8_000 + '"',
    "an open text": 'name = "' + "\\n" * 8_000,
    "an open text of several lines": 'name = """' + '""x' * 5_000,
    "a long integer": "limits.tasks = " + "9" * 16_000,
    "a long hexadecimal integer": "limits.tasks = 0x" + "f" * 16_000,
    "a hexadecimal version": "version = 0x" + "f" * 16_000,
    "a long float": "name = 0." + "1" * 16_000,
    "a large exponent": "name = 1e" + "9" * 16_000,
    "dates": "name = [" + "2020-01-01T00:00:00.123456Z," * 500 + "]",
    "a date that isn't one": "name = 2020-13-99T99:99:99+99:99",
    "comments": "#\n" * 8_000,
    "byte-order marks": "\ufeff" * 5_000,
    "signs": "=[]{},." * 2_000,
}


@pytest.fixture
def within_a_second():
    """Time of the processor: the machine's other work is no matter."""
    begun = time.process_time()
    yield
    assert 1 > time.process_time() - begun


@pytest.mark.parametrize("text", MANIFESTS.values(), ids=MANIFESTS)
def test_a_hostile_manifest(within_a_second, text):
    """Each is refused with lines, and not too many of them."""
    assert len(text.encode()) <= manifest.FILE_BYTES
    if text in (MANIFESTS["comments"], MANIFESTS["lines"]):
        assert manifest.Manifest() == parse(text)
        return
    with pytest.raises(BotError) as refused:
        parse(text)
    assert len(refused.value.lines) <= manifest.MISTAKES + 1
    assert all(len(line) < 1_000 for line in refused.value.lines)


def test_a_hostile_manifest_in_a_folder(within_a_second, make, cache):
    """The whole way of a submission: one line, with its own."""
    (problem,) = load([make("a", {"bot.toml": "# a bot\n" + DOTS})], cache=cache).problems
    assert problem.lines == (
        f"bot.toml:2: has a key of more than {MAX_PARTS} parts; a manifest is a few plain fields",
    )


CRATE = '[[package]]\nname = "{}"\nversion = "1"\n'
PINS = {
    "blanks in a pin": "a" + " " * 900_000 + "x",
    "blanks after a name": ("a" + " " * 900 + "\n") * 1_000,
    "hashes that are none": "a==1 " + "--hash " * 140_000,
    "blanks after hashes": "a==1 " + ("--hash" + " " * 1_000) * 900,
    "one hash after another": "a==1 " + "--hash=sha256:0 " * 60_000,
    "lines that go on": "a \\\n" * 200_000,
    "extras": "a[" + "a," * 400_000,
    "marks of comments": " #" * 500_000,
    "options": " -" * 500_000,
    "escape sequences": "\x1b[" * 500_000,
    "markers": "a==1;" + "(" * 900_000,
}
CARGO = {
    "dots": "a." * 500_000 + "a = 1",
    "dots in headers": "".join(f"[a{i}.b.c.d.e.f.g.h.i.j.k.l.m.n]\n" for i in range(25_000)),
    "a package on each line": "".join(CRATE.format(i) for i in range(30_000)),
    "signs": "a = [" + "1," * 500_000,
    "brackets": "a = " + "[" * 1_000_000,
    "a long text": f'a = "{"x" * 1_000_000}"',
    "escapes": 'a = "' + "\\n" * 500_000 + '"',
    "an open text": 'a = """' + '""x' * 340_000,
    "open texts": 'a="\n' * 250_000,
    "a long integer": "a = " + "9" * 1_000_000,
    "a long hexadecimal integer": "package = 0x" + "f" * 1_000_000,
    "a long float": "package = 0." + "1" * 1_000_000,
    "dates": "package = [" + "2020-01-01T00:00:00Z," * 49_000 + "]",
    "comments": "#\n" * 500_000 + "package = 1",
    "quoted keys": "".join(f'"\\u0061{i}"=1\n' for i in range(45_000)) + "package = 1",
    "the same key again": "a=1\n" * 260_000,
    "blanks": "package = 1" + " " * 1_000_000,
    "carriage returns": "\r\n" * 500_000 + "package = 1",
}


def refusal(lock, folder):
    """What is said of a lock file; nothing if it is taken."""
    try:
        locks.read(lock, folder)
    except LockError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("text", PINS.values(), ids=PINS)
def test_hostile_pins(make, within_a_second, text):
    """Patterns that go back and forth have nothing to go over."""
    said = refusal("requirements.txt", make("a", {"requirements.txt": text[: MB - 1]}))
    taken = text in (PINS["one hash after another"], PINS["marks of comments"])
    assert said.startswith("requirements.txt:1: ") is not taken


@pytest.mark.parametrize(
    ("name", "kind"),
    [(("Cargo.lock", "Cargo.toml")[at % 2], kind) for at, kind in enumerate(CARGO)],
)
@pytest.mark.long("every hostile manifest", quick=("Cargo.lock-dots",))
def test_a_hostile_cargo_lock_or_manifest(make, within_a_second, name, kind):
    """A megabyte is the most that is read, and no more words than a real one has."""
    text = CARGO[kind]
    files = {"Cargo.lock": "", "Cargo.toml": "", name: text[:MB]}
    said = refusal("Cargo.lock", make("a", files))
    assert not said or said.startswith(name)


def test_a_hundred_thousand_packages(make, within_a_second):
    """They are more than a megabyte."""
    text = "".join(CRATE.format(i) for i in range(100_000))
    with pytest.raises(LockError, match=r"^Cargo\.lock is larger than 1 MB$"):
        locks.read("Cargo.lock", make("a", {"Cargo.lock": text, "Cargo.toml": ""}))


def test_manifests_are_bounded_together(make, within_a_second):
    """In bytes and in number."""
    many = {f"c{i}/Cargo.toml": "" for i in range(1_001)}
    with pytest.raises(LockError, match="more than 1000 Cargo.toml"):
        locks.read("Cargo.lock", make("a", {"Cargo.lock": "", "Cargo.toml": "", **many}))
    large = {f"c{i}/Cargo.toml": "#" * 400_000 for i in range(3)}
    with pytest.raises(LockError, match="c2/Cargo.toml: with this file there are more than 1 MB"):
        locks.read("Cargo.lock", make("b", {"Cargo.lock": "", "Cargo.toml": "", **large}))


def test_the_largest_real_lock_is_taken(make, within_a_second):
    """As many packages as a bot may have, in the form that cargo gives them."""
    package = (
        '[[package]]\nname = "package-{}"\nversion = "1.0.0"\n'
        'source = "registry+https://github.com/rust-lang/crates.io-index"\n'
        f'checksum = "{"a" * 64}"\ndependencies = [\n' + ' "package",\n' * 23 + "]\n\n"
    )
    text = "".join(package.format(i) for i in range(PACKAGES))
    assert 0.9 * MB < len(text) < MB
    found = locks.read("Cargo.lock", make("a", {"Cargo.lock": text, "Cargo.toml": ""}))
    assert len(found.names) == PACKAGES


def several(count, line):
    return "".join(line.format(i) for i in range(count))


def node(packages, **fields):
    lock = {"lockfileVersion": 3, "packages": packages}
    return {"package-lock.json": json.dumps(lock), "package.json": json.dumps(fields)}


NODE = {
    "arrays": node({}) | {"package.json": "[" * 500_000},
    "objects": node({}) | {"package.json": '{"a":' * 200_000},
    "a long number": node({}) | {"package.json": f'{{"a": {"9" * MB}}}'[:MB]},
    "a long fraction": node({}) | {"package.json": '{"workspaces": 0.' + "1" * 900_000 + "}"},
    "a large exponent": node({}) | {"package.json": '{"a": 1e' + "9" * 900_000 + "}"},
    "a long place": node({"node_modules/a/" * 60_000: {"version": "1.0.0"}}),
    "a long place of scopes": node({"node_modules/@a/" * 60_000: {"version": "1.0.0"}}),
    "a long version": node({"node_modules/a": {"version": "1.0." + "0" * 900_000 + "!"}}),
    "a long range": node({}, dependencies={"a": "npm:" + "a" * 900_000 + ":"}),
    "a long archive": node({}, dependencies={"a": "file:" + "a.tgz/" * 150_000}),
    "overrides in overrides": node({})
    | {"package.json": '{"overrides":' + '{"a":' * 900 + '"/"' + "}" * 901},
    "many packages": node(
        {f"node_modules/{i}": {"version": "1.0.0"} for i in range(24_000)} | {"x": {}}
    ),
    "many archives": node(
        {f"node_modules/{i}": {"version": "1.0.0", "resolved": "file:a.tgz"} for i in range(14_000)}
        | {"x": {}}
    ),
}


TOO_MANY = {
    "requirements.txt": lambda n: {"requirements.txt": several(n, "a{}==1\n")},
    "package-lock.json": lambda n: node(
        {f"node_modules/a{i}": {"version": "1.0.0"} for i in range(n)}
    ),
    "package.json": lambda n: node({}, dependencies={f"a{i}": "1" for i in range(n)}),
    "Cargo.lock": lambda n: {"Cargo.lock": several(n, CRATE), "Cargo.toml": ""},
    "Cargo.toml": lambda n: {
        "Cargo.lock": "",
        "Cargo.toml": "[dependencies]\n" + several(n, 'a{}="1"\n'),
    },
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_packages_are_bounded_in_number(make, within_a_second, name):
    """What is named, and what a tool would ask for because it is depended on."""
    lock = {"package.json": "package-lock.json", "Cargo.toml": "Cargo.lock"}.get(name, name)
    assert refusal(lock, make("a", TOO_MANY[name](PACKAGES))) == ""
    said = refusal(lock, make("b", TOO_MANY[name](PACKAGES + 1)))
    assert said.startswith(f"{name} names 2001 packages; a bot may have 2000, with all")


def test_what_is_depended_on_in_a_lock_is_counted(make):
    """A few packages of a lock may depend on many that it lacks."""
    wanted = {f"b{i}": "1" for i in range(PACKAGES + 1)}
    files = node({"node_modules/a": {"version": "1.0.0", "dependencies": wanted}})
    assert refusal("package-lock.json", make("a", files)).startswith("package-lock.json names 2001")


@pytest.mark.parametrize("files", NODE.values(), ids=NODE)
def test_a_hostile_package_lock(make, within_a_second, files):
    """Depth, numbers and patterns."""
    assert all(len(text) <= MB for text in files.values())
    with pytest.raises(LockError, match=r"^package"):
        locks.read("package-lock.json", make("a", {**files, "a.tgz": ""}))


@pytest.mark.parametrize("rest", ["x " * 2_000, "'" * 4_000, "\\" * 4_000, "-S" * 2_000])
def test_a_hostile_first_line_of_a_script(within_a_second, rest):
    """It is read as far as kernels do, sixteen times over."""
    with contextlib.suppress(CommandError):
        assert shebang(f"#!/usr/bin/env {rest}".encode()[:4096], "bot")


def test_names_alike_are_not_all_compared(within_a_second):
    """A bot's files may bear twenty thousand names that differ in the order of their letters."""
    letters = "abcdefghijklmnopqrstuvwxyz" * 3
    names = [letters[i % 78 :] + letters[: i % 78] + str(i) for i in range(20_000)]
    plain_text.did_you_mean(letters[::-1], names)
    assert "" == plain_text.did_you_mean("a" * 1_000_000, names)


# --------------------------------------------------------------------------- lines of keys

SAMPLE = '''
# a comment = 1
a = 1
"b c".'d' = """
text = 1
""" # x
[e]
f = [1, [2,
  {g = 1}], {h.i = [{j = 2}], k = "}"}]
[[l]]
m = 1
[l.n]
o = 2
[[l]]
m = 3
[[l.p]]
q = '''


def keys_of(value, above=()):
    """The keys of parsed values, with places in arrays on their ways."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield (*above, name)
            yield from keys_of(each, (*above, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from keys_of(each, (*above, place))


def test_each_key_has_its_line():
    """In tables, in arrays of them and inline; texts and comments are none."""
    text = SAMPLE + "'''1'''\r\n\r\nr = {}\r\n"
    found = toml.loads(text)
    named = {key: line for key, line in found.lines.items() if isinstance(key[-1], str)}
    assert set(keys_of(found.values)) == named.keys()
    lines = {
        ("a",): 3,
        ("b c",): 4,
        ("b c", "d"): 4,
        ("e",): 7,
        ("e", "f", 1, 1, "g"): 9,
        ("e", "f", 2, "h", "i", 0, "j"): 9,
        ("e", "f", 2, "k"): 9,
        ("l",): 10,
        ("l", 0, "n", "o"): 13,
        ("l", 1, "m"): 15,
        ("l", 1, "p", 0, "q"): 17,
        ("l", 1, "p", 0, "r"): 19,
    }
    assert lines == {key: named[key] for key in lines}


@pytest.mark.parametrize("key", ['"\\u0061\\t"', "'a\\t'", '"\\U00000061"'])
def test_quoted_keys_have_lines(key):
    """All but those with an escape that only TOML has."""
    found = toml.loads(f"\n{key} = 1")
    (name,) = found.values
    assert found.lines.get((name,)) == (None if "U" in key else 2)


def test_bounds_are_told_with_their_line():
    """Of what, and where."""
    assert toml.loads("\n[a.b.c.d.e.f.g.h]\ni.j.k.l.m.n.o.p = 1").values
    for text, what in (
        ("\n[a.b.c.d.e.f.g.h]\ni.j.k.l.m.n.o.p.q = 1", "has a key of more than 16 parts"),
        ("\na = 1\nb = " + "[" * 16, "is nested more than 16 deep"),
        ("\n\na = [" + "1," * 100_000, "holds more than 200000 tokens"),
    ):
        with pytest.raises(BoundsError) as refused:
            toml.loads(text)
        assert (3, what) == (refused.value.line, refused.value.what)
