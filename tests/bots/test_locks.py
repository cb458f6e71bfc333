import json
import re

import pytest

from arena.bots.locks import LockError, canonical_name, npm, read
from arena.bots.locks.text import LOCK_BYTES

SHA = "sha256:" + "0f" * 32


@pytest.fixture
def lock(make):
    """Read the lock file of a bot with these files."""

    def lock(name, files):
        return read(name, make("bot", files))

    return lock


def requirements(lock, text):
    return lock("requirements.txt", {"requirements.txt": text})


def test_pins_are_written_anew_for_pip(lock):
    """Comments, joined lines, extras, markers and hashes are understood; the order is fixed."""
    text = (
        "\ufeff# made by hand\r\n"
        "Zope.interface ==1.0  # the old one\r\n"
        "\r\n"
        "numpy[fast, small]==2.0.1 \\\r\n"
        f"    --hash={SHA} \\\r\n"
        f"    --hash {SHA.upper().replace('SHA256', 'sha256')}\r\n"
        "    # via nobody\r\n"
        "a===1!2.0+local; python_version >= '3.8'"
    )
    found = requirements(lock, text)
    assert found.files == {
        "requirements.txt": (
            "Zope.interface==1.0\n"
            "a==1!2.0+local ; python_version >= '3.8'\n"
            f"numpy[fast,small]==2.0.1 --hash={SHA} --hash={SHA}\n"
        ).encode()
    }
    assert found.names == {"zope-interface", "numpy", "a"}
    assert found.hashes


@pytest.mark.parametrize(
    "line",
    ["a[]==1", "a-b_c.9==v1!2.0.RC1-post_3.DEV4+l.o-c_1", "a==1.0-1", "A[b, c-d]==1"],
)
def test_pins_as_indexes_write_them(lock, line):
    """Every version of PEP 440."""
    assert len(requirements(lock, line).names) == 1


def test_a_lock_file_may_be_empty(lock):
    """A bot that needs nothing yet is no error."""
    assert requirements(lock, "# nothing\n").names == set()


def test_names_compare_as_indexes_compare_them():
    """Case and separators don't count."""
    assert canonical_name("Zope_.Interface") == "zope-interface"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("numpy", "`numpy` is not pinned; write name==version"),
        ("numpy>=1", "not pinned"),
        ("numpy==1.*", "not pinned"),
        ("numpy==1,>0", "not pinned"),
        ("numpy==", "not pinned"),
        ("-r other.txt", "`-r other.txt` is not supported; write its lines here"),
        ("--constraint=c.txt", "write its lines"),
        ("-e .", "`-e .` is not supported"),
        ("--editable ./x", "is not supported"),
        ("--index-url https://example.org/", "option --index-url is not supported"),
        ("-i https://example.org/", "option -i"),
        ("a==1 --global-option=x", "option --global-option"),
        ("a==1 --config-settings x=y", "option --config-settings"),
        ("a==1 --hash=md5:00", "option --hash"),
        ("https://example.org/a-1-py3-none-any.whl", "is an address or a path"),
        ("./a-1-py3-none-any.whl", "is an address or a path"),
        ("a @ https://example.org/a.whl", "is an address or a path"),
        ("a @ file:a.whl", "is an address or a path"),
        ("git+https://example.org/a", "is an address or a path"),
        ("a==1; python_version == '${HOME}'", "not pinned"),
        ("a==1; python_version == 'é'", "not pinned"),
        ("a==1 b==2", "not pinned"),
        ("a----==1", "`a----` is not a package name; write name==version, or name[extra]==version"),
        ("a[,,,]==1", "`a[,,,]` is not a package name"),
        ("a[b,]==1", "is not a package name"),
        ("_a==1", "is not a package name"),
        ("a==one", "not pinned"),
        ("a==1..2", "not pinned"),
        ("a==1+", "not pinned"),
        ("\x1b[2Jnumpy", "`numpy` is not pinned"),
    ],
)
def test_other_requirements_are_refused_by_line(lock, line, said):
    """The file, the line, what it is and what to write instead."""
    with pytest.raises(LockError) as e:
        requirements(lock, f"first==1\n\n{line}\n")
    assert str(e.value).startswith("requirements.txt:3: ")
    assert said in str(e.value)
    assert str(e.value).isprintable()


def test_a_joined_line_has_the_number_that_it_begins_on(lock):
    """A backslash at the end of the file joins nothing."""
    with pytest.raises(LockError, match="requirements.txt:2: `numpy"):
        requirements(lock, "a==1\nnumpy \\\n>=2 \\")


def test_a_lock_file_that_is_not_there(lock):
    """It is named, with both ways out."""
    with pytest.raises(LockError, match=r"requirements\.txt is not in the bot's folder; put"):
        lock("requirements.txt", {})
    with pytest.raises(LockError, match=r"package\.json is not in"):
        lock("package-lock.json", {"package-lock.json": "{}"})
    with pytest.raises(LockError, match=r"Cargo\.toml is not in"):
        lock("Cargo.lock", {"Cargo.lock": ""})


def test_a_lock_file_that_is_no_file_or_endless(lock):
    """Neither a folder nor 2 MB are read."""
    with pytest.raises(LockError, match="is not a file"):
        lock("requirements.txt", {"requirements.txt/x": ""})
    with pytest.raises(LockError, match="larger than 1 MB"):
        lock("Cargo.lock", {"Cargo.lock": b"#" * (LOCK_BYTES + 1)})


def test_requirements_in_another_encoding(lock):
    """UTF-16 is what PowerShell writes."""
    with pytest.raises(LockError, match="not UTF-8"):
        requirements(lock, "numpy==1".encode("utf-16"))


def node(packages, **fields):
    """The files of a node bot whose lock file holds these packages."""
    lock = {"lockfileVersion": 3, "packages": {"": {"name": "x"}, **packages}, **fields}
    return {"package-lock.json": json.dumps(lock), "package.json": '{"name": "x"}'}


def test_packages_of_the_registry_and_of_the_bot_are_taken(lock):
    """Only package.json, the lock and the bot's own packages go to npm."""
    files = node(
        {
            "node_modules/a": {"version": "1.0.0"},
            "node_modules/@s/b": {"version": "1.0.0", "resolved": "https://example.org/b.tgz"},
            "node_modules/a/node_modules/c": {"version": "1.0.0", "resolved": "file:lib/c.tgz"},
        }
    )
    found = lock("package-lock.json", {**files, "lib/c.tgz": b"c", ".npmrc": "x=1", "bot.js": ""})
    assert list(found.files) == ["package-lock.json", "package.json", "lib/c.tgz"]
    for name in ("package-lock.json", "package.json"):
        assert json.loads(files[name]) == json.loads(found.files[name])


@pytest.mark.parametrize("version", [1, 4, None, "3", {}])
def test_other_versions_of_lock_files_are_refused(lock, version):
    """Older npm wrote version 1, which pins less."""
    with pytest.raises(LockError, match="lockfileVersion must be 2 or 3.*npm 7"):
        lock("package-lock.json", node({}, lockfileVersion=version))


@pytest.mark.parametrize(
    ("place", "package", "said"),
    [
        (
            "node_modules/a",
            {"version": "1.0.0", "resolved": "git+ssh://git@example.org/a"},
            "git+ssh",
        ),
        ("node_modules/a", {"version": "1.0.0", "resolved": "../a"}, "comes from"),
        ("node_modules/a", {"resolved": "packages/a", "link": True}, "a folder"),
        ("packages/a", {"version": "1.0.0"}, "a folder"),
        ("node_modules/../../a", {"version": "1.0.0"}, "below node_modules"),
        ("node_modules/a/..\\..\\..\\b", {"version": "1.0.0"}, "below node_modules"),
        ("node_modules/a", [], "below node_modules"),
        ("node_modules/a", {}, "not pinned"),
        ("node_modules/a", {"version": "1"}, "not pinned"),
        ("node_modules/a", {"version": "https://169.254.169.254/x"}, "not pinned"),
        ("node_modules/a", {"version": "git+https://example.org/x"}, "not pinned"),
        ("node_modules/https:", {"version": "1.0.0"}, "below node_modules"),
        ("node_modules/.bin", {"version": "1.0.0"}, "below node_modules"),
        ("node_modules/a", {"version": "1.0.0", "name": "https://x/?"}, "wrong package name"),
        ("node_modules/a", {"version": "1.0.0", "resolved": "http://169.254.169.254/"}, "by https"),
        ("node_modules/a", {"version": "1.0.0", "dependencies": {"b": "http://x/"}}, "depends on"),
        ("node_modules/a", {"version": "1.0.0", "resolved": 3}, "not pinned"),
        ("node_modules/a", {"version": "1.0.0", "resolved": "file:/etc/passwd"}, "/etc/passwd"),
        (
            "node_modules/a",
            {"version": "1.0.0", "resolved": "file:../a.tgz"},
            "not a file in the bot's",
        ),
        (
            "node_modules/a",
            {"version": "1.0.0", "resolved": "file:x/../../a"},
            "not a file in the bot's",
        ),
        (
            "node_modules/a",
            {"version": "1.0.0", "resolved": "file:a.tgz"},
            "not a file in the bot's",
        ),
    ],
)
def test_packages_from_elsewhere_are_refused(lock, place, package, said):
    """No version control, no folders, and no place that npm would unpack to outside."""
    with pytest.raises(LockError) as e:
        lock("package-lock.json", node({place: package}))
    assert said in str(e.value)
    assert str(e.value).startswith("package-lock.json:1: ")


@pytest.mark.parametrize(
    "name",
    [
        ".npmrc",
        "npm-shrinkwrap.json",
        "package.json",
        "x/.npmrc",
        ".x/a.tgz",
        "x/.a.tgz",
        "./a.tgz",
        "x//a.tgz",
        "~/a.tgz",
        "%2e%2e/a.tgz",
        "a.tgz/",
        "a.tgz\n",
    ],
)
def test_only_archives_of_the_bot_go_to_npm(lock, name):
    """Neither its settings nor another lock file, by which it would be told what to do."""
    files = node({"node_modules/a": {"version": "1.0.0", "resolved": f"file:{name}"}})
    for own in (".npmrc", "npm-shrinkwrap.json", "x/.npmrc", ".x/a.tgz", "x/.a.tgz", "x/a.tgz"):
        files.setdefault(own, "x")
    with pytest.raises(LockError, match=r"not a file in the bot's folder that ends"):
        lock("package-lock.json", files | {"a.tgz": "", "%2e%2e/a.tgz": "", "~/a.tgz": ""})


def test_own_archives_are_capped(lock, monkeypatch):
    """One by one and together, since they are held in memory."""
    packages = {
        f"node_modules/{name}": {"version": "1.0.0", "resolved": f"file:{name}.tar.gz"}
        for name in "ab"
    }
    files = {**node(packages), "a.tar.gz": b"x" * 3000, "b.tar.gz": b"x" * 3000}
    assert len(lock("package-lock.json", files).files) == 4
    monkeypatch.setattr(npm, "OWN_BYTES", 5000)
    with pytest.raises(LockError, match=r"b\.tar\.gz: with this file there are more than"):
        lock("package-lock.json", files)
    monkeypatch.setattr(npm, "ARCHIVE_BYTES", 2000)
    with pytest.raises(LockError, match=r"a\.tar\.gz is larger than"):
        lock("package-lock.json", files)


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        ("^1.0.0 || >=2 <3", True),
        ("npm:@s/other@~1.0", True),
        ("npm:other", True),
        ("file:lib/a.tgz", True),
        ("", True),
        ("$a", True),
        ("http://169.254.169.254/x.tgz", False),
        ("owner/repository", False),
        ("git+ssh://git@example.org/a", False),
        ("npm:https://example.org/", False),
        ("file:..", False),
        ("..", False),
    ],
)
@pytest.mark.parametrize("kind", ["dependencies", "devDependencies", "overrides"])
def test_what_package_json_depends_on_is_read(lock, wanted, taken, kind):
    """For what the lock lacks npm would ask at that place."""
    files = {**node({}), "package.json": json.dumps({kind: {"b": {"a": wanted}, "a": wanted}})}
    if taken:
        assert "package.json" in lock("package-lock.json", files).files
        return
    with pytest.raises(LockError, match=r"package\.json:1: depends on"):
        lock("package-lock.json", files)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
def test_what_is_no_object_is_refused(lock, text):
    """Broken JSON in either file is named."""
    files = node({})
    for name in files:
        with pytest.raises(LockError, match=name):
            lock("package-lock.json", {**files, name: text})


CRATE = '[[package]]\nname = "tiny"\nversion = "1.0.0"\nsource = "{}"\n'


def test_manifests_of_a_workspace_go_to_cargo(lock):
    """Sources only have to be there; settings and toolchain files don't go along."""
    files = {
        "Cargo.lock": CRATE.format("registry+https://github.com/rust-lang/crates.io-index")
        + CRATE.format("sparse+https://index.crates.io/")
        + '[[package]]\nname = "own"\nversion = "0.1.0"\n',
        "Cargo.toml": "[workspace]",
        "own/Cargo.toml": "[package]",
        "own/src/main.rs": "fn main() {}",
        ".cargo/config.toml": "[build]\nrustc = '/tmp/x'",
        "rust-toolchain.toml": "[toolchain]\npath = '/tmp/x'",
    }
    found = lock("Cargo.lock", files)
    assert sorted(found.files) == ["Cargo.lock", "Cargo.toml", "own/Cargo.toml"]
    assert found.empty == ("own/src/main.rs",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CRATE.format("git+https://example.org/tiny#0a"), "tiny comes from git"),
        (CRATE.format("registry+https://example.org/index"), "come from crates.io"),
        (CRATE.format("sparse+http://169.254.169.254/"), "tiny comes from sparse"),
        (CRATE.format("path+file:///home"), "comes from path"),
        ("package = 3", "cargo generate-lockfile"),
        ("package = [3]", "cargo generate-lockfile"),
        ("[[package", "can't be read"),
        (b"\xff", "can't be read"),
        ("a = " + "[" * 5000, "Cargo.lock:1: is nested more than 16 deep"),
    ],
)
def test_crates_from_elsewhere_are_refused(lock, text, said):
    """A lock file that names a repository, or that is none."""
    with pytest.raises(LockError, match=said) as e:
        lock("Cargo.lock", {"Cargo.lock": text, "Cargo.toml": ""})
    assert str(e.value).startswith("Cargo.lock")


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("[dependencies]\nx = {git = 'http://169.254.169.254/'}", "x states `git`"),
        ("[dependencies.x]\nregistry-index = 'http://x/'", "states `registry-index`"),
        ("[target.'cfg(unix)'.build-dependencies]\nx = {registry = 'y'}", "states `registry`"),
        ("[workspace.dependencies]\nx = {git = 'http://x/'}", "states `git`"),
        ("[patch.crates-io]\nx = {git = 'http://x/'}", "states `git`"),
        ("[patch.'http://x/']\nx = {path = 'x'}", "patches http://x/"),
        ("[replace]\n'x:1.0.0' = {git = 'http://x/'}", "states `git`"),
        ("[dependencies", "can't be read"),
    ],
)
def test_what_a_manifest_depends_on_is_read(lock, manifest, said):
    """For what the lock lacks cargo would ask at that place."""
    good = "[dependencies]\nx = '1'\ny = {path = 'y'}\n[patch.crates-io]\nx = {path = 'x'}"
    files = {"Cargo.lock": "", "Cargo.toml": "", "y/Cargo.toml": good}
    assert len(lock("Cargo.lock", files).files) == 3
    with pytest.raises(LockError, match=said) as e:
        lock("Cargo.lock", {**files, "y/Cargo.toml": manifest})
    assert str(e.value).startswith("y/Cargo.toml")


@pytest.mark.parametrize(
    ("manifest", "line", "said"),
    [
        ("[dependencies]\nx = {path = '../../x'}", 2, "path leads to ../../x, outside"),
        ("[dependencies.x]\nversion = '1'\npath = '/x'", 3, "path leads to /x"),
        ("[target.'cfg(unix)'.dependencies]\nx.path = '../../x'", 2, "path leads to"),
        ("[patch.crates-io]\n\nx = {path = '../../x'}", 3, "path leads to"),
        ("[replace]\n'x:1.0.0' = {path = '../../x'}", 2, "path leads to"),
        ("[workspace]\n\nmembers = ['*', '../../x']", 3, "members leads to ../../x"),
        ("[workspace]\nmembers = ['z/*/../../../x']", 2, "members leads to"),
        ("[workspace]\ndefault-members = ['../../x']", 2, "default-members leads to"),
        ("[workspace]\nexclude = [\n'../../x']", 2, "exclude leads to ../../x"),
        ("[workspace.dependencies]\nx = {path = '../../x'}", 2, "path leads to"),
        ("[workspace.package]\nreadme = '../../x'", 2, "readme leads to"),
        ("[package]\nname = 'y'\nworkspace = '../..'", 3, "workspace leads to ../.., outside"),
        ("[project]\nworkspace = '../..'", 2, "workspace leads to"),
        ("[package]\nbuild = '../../build.rs'", 2, "build leads to"),
        ("[lib]\npath = '/etc/passwd'", 2, "path leads to /etc/passwd"),
        ("[[bin]]\nname = 'z'\n[[bin]]\npath = '../../x'", 4, "path leads to ../../x"),
        ("[dependencies]\n\nx = {base = 'y', path = 'z'}", 3, "x states `base`"),
        ("a = 1\n[dependencies.x]\nb = 1\ngit = 'http://x/'", 4, "x states `git`"),
        ("\n[patch.'http://x/']\nx = {path = 'x'}", 2, "patches http://x/"),
    ],
)
def test_no_path_of_a_manifest_leads_out(lock, manifest, line, said):
    """Cargo would read manifests there, outside the sandbox, and ask the hosts that they name."""
    files = {"Cargo.lock": "", "Cargo.toml": "", "y/Cargo.toml": manifest}
    with pytest.raises(LockError, match=re.escape(f"y/Cargo.toml:{line}: {said}")):
        lock("Cargo.lock", files)


def test_paths_within_the_bot_are_taken(lock):
    """As workspaces have them; and what isn't cargo's, or is a pattern, is no path."""
    manifest = """
    [package]
    name = "y"
    workspace = ".."
    build = false
    include = ["/src", "../x"]
    exclude = ["/notes"]
    metadata.tool.path = "../../x"
    [dependencies]
    z = {path = "../z"}
    path = "1"
    include.workspace = true
    [lib]
    path = "src/lib.rs"
    [workspace.metadata]
    path = "/x"
    """
    files = {"Cargo.lock": "", "Cargo.toml": "[workspace]\nmembers = ['y', './z', 'y/../z', 'c/*']"}
    found = lock("Cargo.lock", {**files, "y/Cargo.toml": manifest, "z/Cargo.toml": ""})
    assert ["Cargo.lock", "Cargo.toml", "y/Cargo.toml", "z/Cargo.toml"] == sorted(found.files)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[[package]]\nname = "own"\ndependencies = [\n"x 1.0.0 (git+https://x/)"]\n', 1),
        ('[[package]]\nname = "x"\nreplace = "x 1.0.0 (git+https://x/)"\n', 1),
        ('\n[[patch.unused]]\nname = "x"\nsource = "git+https://x/"\n', 4),
        (CRATE.format("sparse+https://index.crates.io/") + CRATE.format("git+https://x/"), 8),
    ],
)
def test_wherever_a_cargo_lock_names_a_source_it_is_read(lock, text, line):
    """With the line that it stands on, or its table's."""
    with pytest.raises(LockError, match=rf"Cargo\.lock:{line}: \w+ comes from git\+https://x/"):
        lock("Cargo.lock", {"Cargo.lock": text, "Cargo.toml": ""})


def test_crates_of_the_registry_are_told(lock):
    """Without any, cargo needs no network."""
    text = CRATE.format("sparse+https://index.crates.io/")
    text += '[[package]]\nname = "own"\nversion = "1.0.0"\n'
    assert {"tiny"} == lock("Cargo.lock", {"Cargo.lock": text, "Cargo.toml": ""}).names


@pytest.mark.parametrize("where", ["package.json", "package-lock.json"])
@pytest.mark.parametrize("kind", [["../x"], {"packages": ["lib"]}])
def test_workspaces_of_npm_are_refused(lock, where, kind):
    """Npm would read the package.json of each, wherever it lies."""
    files = node({"": {"workspaces": kind}} if where == "package-lock.json" else {})
    if where == "package.json":
        files[where] = json.dumps({"name": "x", "workspaces": kind}, indent=1)
    line = 3 if where == "package.json" else 1
    with pytest.raises(LockError, match=rf"^{where}:{line}: has workspaces; a bot is one package"):
        lock("package-lock.json", files)


def test_npm_gets_only_what_was_read(lock):
    """Neither what an older npm would go by, nor what other tools of that name would."""
    files = node({}, dependencies={"a": {"version": "git+ssh://x/a"}}, other=1)
    own = {"name": "x", "volta": {"extends": "../../x.json"}, "packageManager": "npm@6.0.0"}
    found = lock("package-lock.json", {**files, "package.json": json.dumps(own)}).files
    assert {"name": "x"} == json.loads(found["package.json"])
    assert {"lockfileVersion", "packages"} == json.loads(found["package-lock.json"]).keys()
