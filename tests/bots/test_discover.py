import os
import shutil
from pathlib import Path

import pytest

from arena.bots import load, restore
from arena.model import Entrant, NotRun


@pytest.fixture
def look(cache):
    def look(*paths):
        return load([Path(path) for path in paths], cache=cache)

    return look


def ids(roster):
    return [candidate.entrant.id for candidate in roster.candidates]


def the_problem(roster):
    """The single thing that was found: a problem."""
    assert roster.candidates == ()
    (problem,) = roster.problems
    return problem


TOML = 'name = "x"\nversion = "1"\nauthor = "Ada"\nrun = ["sh", "-c", "true"]\n'


def test_folder_with_manifest(make, look):
    """A folder with bot.toml enters under the name, version and author that it states."""
    path = make("whatever", {"bot.toml": TOML + "[limits]\nmemory_mb = 64\n"})
    roster = look(path)
    (candidate,) = roster.candidates
    content = candidate.entrant.hash
    assert candidate.entrant == Entrant(id="x@1", name="x", version="1", author="Ada", hash=content)
    assert candidate.stated.run == ("sh", "-c", "true")
    assert candidate.stated.asked.memory_mb == 64
    assert candidate.source == str(path)
    assert Path(candidate.snapshot, "bot.toml").read_text().startswith(TOML)
    assert (roster.notes, roster.problems, roster.skipped) == ((), (), ())


def test_folder_with_entry_file(make, look):
    """Without a manifest the folder names the bot and its content the version."""
    roster = look(make("random", {"bot.sh": ""}))
    (candidate,) = roster.candidates
    assert candidate.entrant.id == f"random@{candidate.entrant.hash[:8]}"
    assert candidate.stated.run is None


def test_single_files(make, look):
    """Scripts with a suffix or a #! line and programs enter by themselves."""
    program = shutil.copy("/bin/true", make("p", {}) / "prog-1.2")
    roster = look(
        make("greedy.py", "x"),
        make("talk", "#!/bin/sh\n"),
        make("odd.v2", "#!/bin/sh\n# 2\n"),
        program,
    )
    assert [c.entrant.name for c in roster.candidates] == ["greedy", "talk", "odd.v2", "prog-1.2"]
    files = [path.name for c in roster.candidates for path in Path(c.snapshot).iterdir()]
    assert files == ["bot.py", "bot", "bot", "bot"]
    assert os.access(Path(roster.candidates[1].snapshot, "bot"), os.X_OK)


def test_single_file_hash_has_suffix_and_content_only(make, look):
    """Neither the name nor a lost execute bit makes another bot; the suffix does."""
    hashes = [
        look(path).candidates[0].entrant.hash
        for path in (
            make("a.py", "#!/bin/sh\n"),
            make("b.py", "#!/bin/sh\n", executable=True),
            make("c", "#!/bin/sh\n"),
            make("d", "#!/bin/sh\n", executable=True),
        )
    ]
    assert hashes[0] == hashes[1] != hashes[2] == hashes[3]


def test_current_folder_has_a_name(make, look, monkeypatch):
    """`arena run .` works in a bot's folder."""
    monkeypatch.chdir(make("here", {"bot.sh": ""}))
    assert look(".").candidates[0].entrant.name == "here"


def test_edits_after_loading_change_nothing(make, look):
    """The snapshot stays what it was."""
    path = make("a", {"bot.sh": "before"})
    (candidate,) = look(path).candidates
    (path / "bot.sh").write_text("after")
    assert Path(candidate.snapshot, "bot.sh").read_text() == "before"


def test_same_content_twice_is_taken_once(make, look):
    """The same path twice, or a copy, gets one note and no second entrant."""
    roster = look(make("a", {"bot.toml": TOML}), make("b", {"bot.toml": TOML}))
    assert ids(roster) == ["x@1"]
    (note,) = roster.notes
    assert "x@1" in note
    assert "bots/a" in note
    assert "bots/b" in note


def test_same_version_with_other_content_is_an_error(make, look):
    """Two contents under one id name both paths, and neither plays."""
    problem = the_problem(
        look(make("a", {"bot.toml": TOML}), make("b", {"bot.toml": TOML, "f": "x"}))
    )
    assert problem.name == "x@1"
    assert "bots/a" in str(problem)
    assert "bots/b" in str(problem)


def test_same_name_with_other_content_is_another_version(make, look):
    """Without stated versions two contents are two entrants."""
    roster = look(make("one/a", {"bot.sh": "1"}), make("two/a", {"bot.sh": "2"}))
    assert len(set(ids(roster))) == 2


def test_stray_files_get_one_note(make, look):
    """What a glob picks up besides bots is listed once, and is no error."""
    roster = look(
        make("README.md", "x"),
        make("LICENSE", "x", executable=True),
        make(".DS_Store", "x"),
        make(".hidden", {"bot.sh": ""}),
        make("__pycache__", {}),
        make("lib.so", b"\x7fELF"),
        make("notes.txt", "x"),
        make("data.json", "{}"),
        make("a", {"bot.sh": ""}),
    )
    assert len(roster.candidates) == 1
    assert roster.problems == ()
    (note,) = roster.notes
    assert "README.md" in note
    assert "2 more" in note


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("empty", {}, "empty folder"),
        ("text", {"notes.txt": ""}, "no bot.toml"),
        ("typo", {"bot.tml": ""}, "is bot.tml a misspelling"),
        ("norun", {"bot.toml": ""}, "`run`"),
        ("bad", {"bot.toml": "run = ["}, "bot.toml:1:"),
        ("my bot", {"bot.sh": ""}, "set `name`"),
        ("my bot.sh", "", "rename"),
        ("bot.toml", "", "name its folder"),
        ("crlf.sh", "#!/bin/sh\r\n", "CR LF"),
        ("crlf", "#!/bin/sh\r\n", "CR LF"),
        ("mark.sh", "\ufeff#!/bin/sh\n", "byte-order mark"),
        ("mark", "\ufeff#!/bin/sh\n", "byte-order mark"),
        ("elf", b"\x7fELF", "chmod +x"),
        ("two", {"bot.py": "", "bot.js": ""}, "which one"),
        ("run", {"bot.toml": 'run = ["./x"]'}, "bot.toml:1: run: x is not in"),
        ("mode", {"bot.toml": 'run = ["./x"]', "x": "#!/bin/sh\n"}, "chmod +x"),
        ("build", {"bot.toml": 'build = ["./x"]'}, "bot.toml:1: build: x is not in"),
        ("equals", {"bot.toml": 'run = ["./a=b"]', "a=b": ""}, "chmod"),
    ],
)
def test_what_is_no_bot_says_why(make, look, name, content, text):
    """One clear line for each way of being wrong, with the path."""
    problem = the_problem(look(make(name, content)))
    assert text in problem.lines[0]
    assert len(problem.lines) == 1
    assert f"bots/{name}" in str(problem)


def test_equals_sign_in_a_program(make, look):
    """Such a path can't be passed to env(1), which starts the bots."""
    folder = make("a", {"bot.toml": 'run = ["./a=b"]', "a=b": b"\x7fELF"}, executable=["a=b"])
    assert "'='" in the_problem(look(folder)).lines[0]


def test_executable_text_is_no_program(make, look):
    """A script that lacks its #! line is told so."""
    assert "#! line" in the_problem(look(make("script", "echo\n", executable=True))).lines[0]


def test_paths_that_do_not_exist(make, look):
    """A typo in a path gets the likely sibling, an unmatched pattern is called one."""
    path = make("greedy", {"bot.sh": ""})
    assert "'greedy'" in the_problem(look(path.with_name("gredy"))).lines[0]
    assert "pattern" in the_problem(look(path / "*")).lines[0]
    assert "does not exist" in the_problem(look(path / "no" / "where")).lines[0]
    assert the_problem(look(path / "bot.sh" / "x")).lines[0].startswith("can't be read")
    assert "not a path" in the_problem(look("a\0b")).lines[0]


def test_dangling_link(make, look):
    """A link to nothing says where it leads."""
    path = make("a", {}) / "link"
    path.symlink_to("gone")
    assert "gone" in the_problem(look(path)).lines[0]


def test_special_files(make, look):
    """A pipe is not waited for."""
    path = make("a", {}) / "pipe"
    os.mkfifo(path)
    assert "neither" in the_problem(look(path)).lines[0]


def test_folder_of_bots(make, look):
    """`arena run bots` is told to be `arena run bots/*`."""
    make("a", {"bot.sh": ""})
    make("b", {"bot.toml": ""})
    make("c.py", "")
    folder = make("README.md", "").parent
    line = the_problem(look(folder)).lines[0]
    assert "bots/*" in line
    assert "3" in line


def test_folder_with_one_script_is_no_folder_of_bots(make, look):
    """A single script with another name wants an entry file's name."""
    assert "bot.toml" in the_problem(look(make("a", {"play.py": ""}))).lines[0]


def test_unreadable_folder_and_file(make, look, tmp_path, cache, as_ordinary_user):
    """What the user may not read is one line each."""
    closed, searched = make("a", {"bot.sh": ""}), make("b", {"bot.sh": ""})
    single = make("c.sh", "")
    closed.chmod(0)
    searched.chmod(0o644)
    single.chmod(0)
    cache.mkdir()
    cache.chmod(0o777)
    with as_ordinary_user():
        roster = look(closed, searched, single)
    assert roster.candidates == ()
    assert ["Permission denied" in p.lines[0] for p in roster.problems] == [True] * 3


def test_all_bad_entrants_are_reported_together(make, look):
    """Nothing raises, and the good ones are there too."""
    roster = look(make("a", {}), make("b", {"bot.sh": ""}), make("c", {"bot.toml": "x = 1\ny = 2"}))
    assert len(roster.candidates) == 1
    assert [problem.name for problem in roster.problems] == ["a", "c"]
    assert len(roster.problems[1].lines) == 2
    assert roster.problems[0].not_run == NotRun(name="a", reason="is an empty folder")


def test_results_among_bots_are_passed_over_with_a_note(make, look):
    """A pattern such as * names them too: events, folders of events, published sites."""
    roster = look(
        make("a", {"bot.sh": ""}),
        make("arena-results", {}),
        make("friday", {"event.json": "", "matches.jsonl": ""}),
        make("ladders", {"monday/event.json": ""}),
        make("site", {"arena-site.json": ""}),
    )
    assert (1, ()) == (len(roster.candidates), roster.problems)
    (note,) = roster.notes
    assert note.startswith("left out, not bots: ")
    assert 4 == note.count(" (results)")


def test_a_folder_of_bots_with_results_in_it_is_told_as_one_of_bots(make, look):
    """Its name lacks the pattern, whatever else lies there."""
    roster = look(make("bots", {"a/bot.sh": "", "b/bot.sh": "", "friday/event.json": ""}))
    assert () == roster.notes
    (problem,) = roster.problems
    assert "holds 2 that look like bots; write bots/* to enter them" in problem.lines[0]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("player.py", 'is a script: a bot.toml beside it says run = ["python3", "player.py"]'),
        ("bot.ipynb", "a notebook: save its code as a script (jupyter nbconvert --to script bot.i"),
        ("bot.c", 'build = ["cc", "-O2", "-o", "bot", "bot.c"] and run = ["./bot"]'),
        ("Bot.java", 'build = ["javac", "Bot.java"] and run = ["java", "Bot"]'),
        ("bot.jar", 'run = ["java", "-jar", "bot.jar"]'),
        ("bot.zip", "is an archive: unpack it"),
        ("bot.tar.gz", "is an archive: unpack it"),
    ],
)
def test_what_is_no_bot_yet_is_called_by_what_it_is(make, look, name, told):
    """In a folder, and by itself; with the line that makes a bot of it."""
    problem = the_problem(look(make("a", {name: "", "notes.txt": ""})))
    assert problem.lines[0].startswith(f"has no bot.toml; {name} is ")
    assert told in problem.lines[0]
    if name != "player.py":  # by itself it is one
        (note,) = look(make(name, "")).notes
        assert f"{name} (is " in note
        assert told in note


def test_of_several_scripts_the_likely_one_is_named(make, look):
    """They may be one bot or several."""
    problem = the_problem(look(make("a", {"helpers.py": "", "player.py": ""})))
    assert "holds 2 that look like bots; write a/* to enter them; or, if they" in problem.lines[0]
    assert 'run = ["python3", "player.py"]' in problem.lines[0]


def test_missing_interpreter_is_a_problem(make, look):
    """Which program, which bot, what to do."""
    problem = the_problem(look(make("a", {"bot.toml": 'run = ["no-such-tool"]'})))
    assert problem.name.startswith("a@")
    assert "'no-such-tool'" in problem.lines[0]
    assert "optional = true" in problem.lines[0]


@pytest.mark.parametrize("field", ["run", "build"])
def test_missing_toolchain_of_an_optional_bot(make, look, field):
    """An optional bot is left out with one line, named."""
    roster = look(make("a", {"bot.toml": f'name = "a"\n{field} = ["no-such"]\noptional = true'}))
    assert roster.candidates == roster.problems == ()
    (skipped,) = roster.skipped
    assert skipped.name.startswith("a@")
    assert "'no-such'" in skipped.reason


def test_shebang_interpreter_missing(make, look):
    """The program of a #! line is looked for before the event, too."""
    assert "'no-such'" in the_problem(look(make("a.sh", "#!/usr/bin/env no-such\n"))).lines[0]


def test_control_characters_never_reach_messages(make, look):
    """A hostile file name can't play with the terminal."""
    roster = look(make("a\x1b[2J\nb", {}), make("\x07.txt", ""))
    text = str(roster.problems[0]) + "".join(roster.notes)
    assert text.replace("\n", "").isprintable()
    assert "\n" not in text


def test_restore_finds_snapshots_without_their_source(make, look, cache):
    """A resumed event plays what was entered, also when the folder has changed or is gone."""
    path = make("a", {"bot.toml": 'run = ["sh", "x.sh"]', "x.sh": "1"})
    roster = look(path, make("single.sh", "2"))
    recorded = [(c.entrant, c.source) for c in roster.candidates]
    (path / "x.sh").write_text("changed")
    (path.parent / "single.sh").unlink()
    assert restore(recorded, cache=cache).candidates == roster.candidates


def test_restore_takes_the_snapshot_again(make, look, tmp_path):
    """Without the cache the source path does, if its content is the same."""
    roster = look(make("a", {"bot.sh": "1"}))
    recorded = [(c.entrant, c.source) for c in roster.candidates]
    again = restore(recorded, cache=tmp_path / "new")
    assert [c.entrant for c in again.candidates] == [c.entrant for c in roster.candidates]
    assert Path(again.candidates[0].snapshot, "bot.sh").read_text() == "1"


def test_restore_refuses_other_content(make, look, tmp_path):
    """What was entered can't be exchanged under way: both hashes are shown."""
    path = make("a", {"bot.sh": "1"})
    recorded = [(c.entrant, c.source) for c in look(path).candidates]
    (path / "bot.sh").write_text("2")
    changed = look(path).candidates[0].entrant.hash
    problem = the_problem(restore(recorded, cache=tmp_path / "new"))
    assert problem.name == recorded[0][0].id
    assert recorded[0][0].hash in problem.lines[0]
    assert changed in problem.lines[0]


def test_restore_without_source(make, look, tmp_path):
    """A source that is gone, or is no bot any more, is a problem of that entrant."""
    path = make("a", {"bot.sh": "1"})
    entrant = look(path).candidates[0].entrant
    recorded = [(entrant, str(path.with_name("gone"))), (entrant, str(make("x.txt", "")))]
    roster = restore(recorded, cache=tmp_path / "new")
    assert roster.candidates == ()
    assert [p.name for p in roster.problems] == [entrant.id] * 2
    assert "does not exist" in roster.problems[0].lines[0]
    assert "no longer" in roster.problems[1].lines[0]


def test_restore_without_a_path_takes_no_folder_for_it(make, look, cache, tmp_path, monkeypatch):
    """Not the current one: what isn't in the cache is named by its content."""
    path = make("a", {"bot.sh": "1"})
    entrant = look(path).candidates[0].entrant
    monkeypatch.chdir(path)
    (problem,) = restore([(entrant, "")], cache=tmp_path / "new").problems
    told = f"{entrant.id}: its snapshot ({entrant.hash[:12]}…) is no longer in the cache, and"
    assert str(problem).startswith(told)
    (found,) = restore([(entrant, "")], cache=cache).candidates
    assert found.source == found.snapshot


@pytest.mark.process
@pytest.mark.parametrize("way", ["/proc/self/cwd/bots", "{bots}"])
@pytest.mark.parametrize("line", [False, True])
def test_nothing_of_a_bot_is_run(make, look, program, tmp_path, monkeypatch, way, line):
    """Not even to ask which program a shim stands for: by `run` or by a #! line."""
    program(tmp_path / "bots/pyenv/shims/python3")
    program(tmp_path / "bots/pyenv/bin/pyenv", f"#!/bin/sh\ntouch {tmp_path}/run\n")
    monkeypatch.chdir(tmp_path)
    shim = way.format(bots=tmp_path / "bots") + "/pyenv/shims/python3"
    toml = "" if line else f'run = ["{shim}", "bot.py"]'
    evil = make("evil", {"bot.toml": toml, "bot.py": f"#!{shim}\n"})
    assert len(look(evil).problems) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("named", ["bot.py", "bin/tool"])
def test_opponents_are_not_shown(make, look, named):
    """A bot may name any file of theirs, and one of them may be a single file."""
    strong = make("strong", {"bot.py": "#!/bin/sh\n", named: "x"}, executable=["bot.py", named])
    single = make("single.sh", "#!/bin/sh\n", executable=True)
    weak = make("weak", {"bot.toml": f'run = ["{strong}/{named}"]'})
    sly = make("sly", {"bot.toml": f'run = ["{single}"]'})
    roster = look(weak, sly, strong, single)
    assert [each.entrant.name for each in roster.candidates] == ["strong", "single"]
    assert all("can't be shown" in problem.lines[0] for problem in roster.problems)


def test_opponents_are_not_shown_when_an_event_is_resumed(make, look, cache, monkeypatch):
    """The places that bots came from are recorded, and as closed as before."""
    files = {"bot.py": "", "bin/node": "x", "include/node/node.h": ""}
    strong = make("strong", files, executable=["bin/node"])
    weak = make("weak", {"bot.toml": 'run = ["node"]'})
    monkeypatch.setenv("PATH", f"{strong}/bin:{os.environ['PATH']}")
    # Alone it could have entered: for all that is known this is an interpreter.
    known = [
        (each.entrant, each.source) for path in (weak, strong) for each in look(path).candidates
    ]
    roster = restore(known, cache=cache)
    assert [each.entrant.name for each in roster.candidates] == ["strong"]
    (problem,) = roster.problems
    assert "can't be shown to a bot" in problem.lines[0]


TUNED = f"""{TOML}
[tune]
risk = {{ default = 1, min = 0, max = 9 }}
w = {{ default = 1, min = 0, max = 2.5 }}
"""


def test_a_setting_behind_the_path(make, look, cache):
    """BOT:NAME=VALUE is the bot with another setting; it is found again by content and setting."""
    path = make("whatever", {"bot.toml": TUNED})
    roster = look(path, f"{path}:risk=2,w=0.50", f"{path}:risk=1")
    plain, tuned = (candidate.entrant for candidate in roster.candidates)
    assert [plain.id, tuned.id] == ["x@1", "x@1-risk_2-w_0.5"]
    assert tuned == plain.with_setting({"risk": "2", "w": "0.5"})
    assert "x@1 was given twice" in roster.notes[0]
    assert {candidate.source for candidate in roster.candidates} == {str(path)}
    shutil.rmtree(path)
    again = restore([(tuned, str(path))], cache=cache)
    assert [tuned] == [candidate.entrant for candidate in again.candidates]


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ("risk=10", "risk: 10 is not between 0 and 9"),
        ("rsik=1", "it has no such parameter; it has: risk, w"),
        ("risk=", "'risk=' is none; a setting is written BOT:NAME=VALUE,NAME=VALUE"),
        ("risk=1,risk=2", "risk is there twice; a setting is written"),
    ],
)
def test_a_wrong_setting_is_one_line(make, look, setting, what):
    """The problem names the bot as it was given, and what is wrong with the setting."""
    path = make("whatever", {"bot.toml": TUNED})
    problem = the_problem(look(f"{path}:{setting}"))
    assert problem.path == f"{path}:{setting}"
    assert what in problem.lines[0]


def test_a_path_that_looks_like_a_setting(make, look):
    """A folder that is there is that folder, whatever its name says."""
    roster = look(make("bot:risk=2", {"bot.toml": TUNED}))
    assert ids(roster) == ["x@1"]


def test_a_forged_setting_is_refused(make, look, cache):
    """An event of a stranger can't give a bot a parameter that it doesn't have."""
    (candidate,) = look(make("whatever", {"bot.toml": TUNED})).candidates
    forged = candidate.entrant.with_setting({"PATH": "2"})
    (problem,) = restore([(forged, candidate.source)], cache=cache).problems
    assert "it has no such parameter" in problem.lines[0]
