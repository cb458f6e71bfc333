from arena.bots.plain_text import LINE, did_you_mean, printable


def test_escape_sequences_are_removed_whole():
    """A name can neither colour the screen nor set the window's title."""
    assert printable("\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b(B.") == "red."


def test_control_characters_become_visible():
    """Nothing is left that moves the cursor, reverses text or begins a line."""
    assert printable("a\rb\nc\x00d\u202ee\x9bf\udc80") == "a b c?d?e?f?"


def test_long_text_is_cut():
    """One line of a screen stays one line."""
    assert printable("x" * 1000) == "x" * (LINE - 1) + "…"


def test_the_nearest_word_is_suggested():
    """A typo gets its word, something else gets nothing."""
    assert did_you_mean("nmae", ["name", "run"]) == " (did you mean 'name'?)"
    assert did_you_mean("zzz", ["name", "run"]) == ""
