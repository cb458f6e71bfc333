import pytest

from arena.bots.manifest import FILE_BYTES, Asked, Manifest, of_folder, parse
from arena.bots.plain_text import BotError
from arena.model import Parameter


def mistakes(text):
    with pytest.raises(BotError) as e:
        parse(text)
    return e.value.lines


def mistake(text):
    (line,) = mistakes(text)
    return line


def test_every_field_is_read():
    """A manifest with all fields of the specification is taken as it is."""
    text = """
        name = "greedy"
        version = "1.2"
        author = "Ada"
        run = ["./bot", "-x"]
        build = [["make", "bot"], ["strip", "bot"]]
        optional = true
        lock = "Cargo.lock"
        [limits]
        memory_mb = 256
        tasks = 8
        start_ms = 500
        scratch_mb = 4
    """
    expected = Manifest(
        name="greedy",
        version="1.2",
        author="Ada",
        run=("./bot", "-x"),
        build=(("make", "bot"), ("strip", "bot")),
        optional=True,
        lock="Cargo.lock",
        asked=Asked(memory_mb=256, tasks=8, start_ms=500, scratch_mb=4),
    )
    assert parse(text) == expected


def test_every_field_may_be_left_out():
    """An empty manifest states nothing."""
    assert parse("") == Manifest()


def test_build_may_be_one_command():
    """One array of strings is one command; an empty array is none."""
    assert parse('build = ["make", "-s"]').build == (("make", "-s"),)
    assert parse("build = []").build == ()


def test_syntax_error_has_line_and_column():
    """What TOML itself refuses is located."""
    assert "bot.toml:2:8: " in mistake('name = "x"\nrun = [}\n')
    assert "bot.toml:2:" in mistake('name = "x"\nrun = [')


def test_unknown_fields_name_their_line_and_the_nearest_known():
    """All typos are reported at once, each with its line."""
    lines = mistakes('# a bot\nnmae = "x"\nrun = [\n  "a",\n]\n\nbiuld = ["x"]\n')
    assert "bot.toml:2:" in lines[0]
    assert "'nmae'" in lines[0]
    assert "'name'" in lines[0]
    assert "bot.toml:7:" in lines[1]
    assert "'build'" in lines[1]


def test_unknown_limit_names_its_table():
    """Fields of [limits] are compared with the limits."""
    line = mistake("[limits]\ntasks = 3\nmemory = 5\n")
    assert "bot.toml:3:" in line
    assert "[limits]" in line
    assert "'memory_mb'" in line


def test_limit_outside_its_table_is_sent_there():
    """A limit at the top level is a common slip."""
    assert "under [limits]" in mistake("memory_mb = 5")


def test_key_inside_a_text_is_not_taken_for_a_field():
    """The line is that of the field, whatever multi-line strings hold."""
    line = mistake('version = """\\\nrnu"""\nbuild = [\n"rnu = 1",\n]\nrnu = 1\n')
    assert "bot.toml:6:" in line
    assert "'rnu'" in line


@pytest.mark.parametrize(
    ("text", "field", "kind"),
    [
        ("name = 7", "name", "a string"),
        ("version = 1.0", "version", 'version = "1.0"'),
        ("author = []", "author", "an array"),
        ('run = "python3 bot.py"', "run", '["python3", "bot.py"]'),
        ('run = ["a", 1]', "run", "item 2"),
        ("run = []", "run", "no program"),
        ('run = [""]', "run", "no program"),
        ('run = ["a\\u0000b"]', "run", "zero byte"),
        ('build = "make"', "build", '["make"]'),
        ('build = [["a"], "b"]', "build", "item 2"),
        ('build = [["a"], ["b", 1]]', "build", "command 2"),
        ('optional = "yes"', "optional", "true or false"),
        ("lock = true", "lock", "a string"),
        ('lock = "poetry.lock"', "lock", "requirements.txt, package-lock.json or Cargo.lock"),
        ('lock = ""', "lock", "a file beside bot.toml"),
        ("limits = {scratch_mb = 0}", "limits.scratch_mb", "at least 1"),
        ("limits = 3", "limits", "a table"),
        ("limits = {memory_mb = true}", "limits.memory_mb", "an integer"),
        ("limits = {tasks = 0}", "limits.tasks", "at least 1"),
        ("name = 2020-01-01", "name", "date"),
        ("version = 1.10 # the tenth", "version", 'version = "1.10"'),
        ("version = 1e999", "version", 'version = "1e999"'),
    ],
)
def test_wrong_types_name_line_and_field(text, field, kind):
    """Each field says what it wants instead."""
    line = mistake("\n" + text)
    assert "bot.toml:2:" in line
    assert field in line
    assert kind in line


def test_bad_name_shows_its_line():
    """A name that doesn't fit is an error of its field."""
    line = mistake('\n\nname = "my bot"')
    assert "bot.toml:3:" in line
    assert "my bot" in line


def test_names_are_normalised():
    """Two spellings of one name are one name."""
    assert parse('name = "e\\u0301"').name == "é"


def test_author_must_be_printable_and_short():
    """An author's name goes into tables."""
    assert "author" in mistake('author = "\\u001b[31m"')
    assert "author" in mistake(f'author = "{"x" * 101}"')


def test_escape_sequences_do_not_reach_messages():
    """A hostile field name is shown without its control characters."""
    assert "\x1b" not in mistake('"\\u001b[2Jx" = 1')


def test_deep_nesting_is_an_error_line():
    """A file made to exhaust the stack is refused like any other mistake."""
    assert "nested" in mistake("run = " + "[" * 5000)


def test_endless_integers_are_an_error_line():
    """So is a number too long for Python."""
    told = mistake("\nlimits = {tasks = " + "9" * 5000 + "}")
    assert told.startswith("bot.toml:2: has a number of more than 1000 digits; ")
    told = mistake("\nversion = 1e" + "9" * 16_000)
    assert told == "bot.toml:2: version: must be a string, not a number"


def test_large_files_are_refused(tmp_path):
    """The caps keep the search for lines short."""
    path = tmp_path / "bot.toml"
    path.write_text("#" * FILE_BYTES + "\n")
    with pytest.raises(BotError, match="larger"):
        of_folder(tmp_path)


def test_encoding(tmp_path):
    """A byte-order mark and CR LF are taken, other encodings are located."""
    path = tmp_path / "bot.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "x"\r\n')
    assert of_folder(tmp_path).name == "x"
    path.write_bytes(b'name = "x"\nauthor = "\xe9"\n')
    with pytest.raises(BotError, match=r"bot.toml:2: .*UTF-8"):
        of_folder(tmp_path)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('version = "1\nrun = ["x"]', "1:11"),
        ("name = 'a\n", "1:8"),
        ('name = "a', "1:8"),
        ("name = 'a", "1:8"),
        ('run = ["a\\"b", "c]\n', "1:16"),
    ],
)
def test_a_string_that_is_never_closed_is_shown_where_it_begins(text, place):
    """Its end is where nobody looks."""
    assert f"bot.toml:{place}: the string that begins here is never closed" == mistake(text)


@pytest.mark.parametrize("text", ['name = """a\nb', 'name = "a\tb" # it\'s\nx'])
def test_other_mistakes_of_syntax_keep_their_words(text):
    """Strings of several lines, and quotes in comments."""
    assert "never closed" not in mistake(text)


def test_parameters_are_read():
    """Three whole numbers make a whole parameter; a range may be logarithmic."""
    text = """
        [tune]
        risk = { default = 1.3, min = 0.5, max = 3 }
        depth = { default = 4, min = 1, max = 8 }
        [tune.step]
        default = 0.01
        min = 0.001
        max = 1
        scale = "log"
    """
    assert parse(text).tune == (
        Parameter(name="risk", low=0.5, high=3.0, default=1.3),
        Parameter(name="depth", low=1.0, high=8.0, default=4.0, whole=True),
        Parameter(name="step", low=0.001, high=1.0, default=0.01, log=True),
    )


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("tune = 3", "tune: must be a table, not an integer"),
        ("[tune]\nx = 3", "tune.x: must be a table like { default = 1.5,"),
        ("[tune]\nx = { min = 1, max = 2 }", "tune.x: it has no default; write for instance {"),
        ("[tune]\nx = { min = 1, max = '2', default = 1 }", "tune.x: max must be a number"),
        ("[tune]\nx = { min = true, max = 2, default = 1 }", "tune.x: min must be a number"),
        ("[tune]\nx = { min = 2, max = 2, default = 2 }", "range is empty: min 2 is not below"),
        ("[tune]\nx = { min = 1, max = 2, default = 3 }", "default 3 is not between 1 and 2"),
        ("[tune]\nx = { min = 1, max = inf, default = 1 }", "more than 1e+09"),
        ("[tune]\nx = { min = 0, max = 2, default = 1, scale = 'log' }", "a min above 0"),
        ("[tune]\nx = { min = 0, max = 2, default = 1, scale = 'ln' }", '"linear" or "log"'),
        ("[tune]\nx-y = { min = 0, max = 2, default = 1 }", "tune.x-y: a name is a letter, then"),
        ("[tune]\nx = { min = 0, max = 2, default = 1, step = 1 }", "unknown field 'step' in"),
        ("[tune]\n" + "".join(f"p{n} = 1\n" for n in range(17)), "may have 16 parameters, not 17"),
    ],
)
def test_wrong_parameters_are_located(line, what):
    """Each mistake in [tune] is one line that says where it is and what to write."""
    found = mistake(line)
    assert found.startswith("bot.toml:")
    assert what in found
