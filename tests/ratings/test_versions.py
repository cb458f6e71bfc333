"""Which of a bot's versions is its latest."""

import pytest

from arena.model import Entrant, UserError, bots_called, is_called, sha256_hex
from arena.ratings.versions import FieldOfEvent, former_versions


def entrant(id_, author="", **options):
    name, _, version = id_.partition("@")
    content = sha256_hex(f"{id_} {author}".encode())
    return Entrant(id=id_, name=name, version=version, author=author, hash=content, **options)


def former(*fields, bots=None):
    """Of fields: root, time, ids. `bots`: entrants that are more than their ids."""
    made = [FieldOfEvent(root, began, frozenset(ids.split())) for root, began, ids in fields]
    known = {each.id: each for each in bots or ()}
    names = sorted(frozenset().union(*(each.entrants for each in made)))
    return former_versions(made, [known.get(name) or entrant(name) for name in names])


def test_the_version_that_came_in_a_later_epoch_is_the_latest():
    """Whatever its number, and whatever the clock said."""
    fields = (("x", 9, "ann@3 bob@1"), ("x", 2, "ann@3 ann@2 bob@1"), ("x", 5, "ann@2 cyd@1"))
    assert {"ann@3"} == former(*fields)


def test_versions_that_came_together_are_in_natural_order():
    """Numbers in them are numbers."""
    assert {"ann@1.9", "ann@1.2b"} == former(("x", 1, "ann@1.9 ann@1.10 ann@1.2b"))


def test_of_two_events_the_one_that_began_last_decides():
    """An author may go back to a former version."""
    assert {"ann@2"} == former(("x", 2, "ann@1 bob@1"), ("y", 1, "ann@1 ann@2"))
    assert {"ann@1"} == former(("x", 1, "ann@1 bob@1"), ("y", 2, "ann@1 ann@2"))


def test_versions_of_one_bot_have_its_author_name_and_setting():
    """A namesake of another author is another bot, and so is another setting."""
    plain = entrant("ann@1", "A")
    bots = [
        plain,
        entrant("ann@2", "B"),
        plain.with_setting({"risk": "3"}),
        entrant("ann@2x", "A").with_setting({"risk": "4"}),
    ]
    ids = " ".join(bot.id for bot in bots)
    assert frozenset() == former(("x", 1, ids), bots=bots)
    newer = entrant("ann@3", "A").with_setting({"risk": "3"})
    assert {bots[2].id} == former(("x", 1, f"{ids} {newer.id}"), bots=[*bots, newer])


def test_digits_of_the_content_are_no_order():
    """Two that came together are both latest; of one that came later, one is."""
    bots = []
    for text in ("one", "two"):
        content = sha256_hex(text.encode())
        version = content[:8]
        bots.append(Entrant(id=f"ann@{version}", name="ann", version=version, hash=content))
    one, two = (bot.id for bot in bots)
    assert frozenset() == former(("x", 1, f"{one} {two}"), bots=bots)
    assert {two} == former(("x", 1, two), ("x", 2, f"{one} {two}"), bots=bots)


def test_bots_are_called_by_name_id_or_pattern():
    """A pattern that fits none names those near it."""
    calls = {"ann": {"ann@1", "ann@2"}, "ann@1": {"ann@1"}, "ann@2": {"ann@2"}, "bob": {"bob@1"}}
    assert {"ann@1", "ann@2"} == bots_called(calls, ["a*"], "--only")
    assert {"ann@2", "bob@1"} == bots_called(calls, ["*@2", "b?b"], "--only")
    assert set() == bots_called(calls, [], "--only")
    with pytest.raises(UserError, match="--only bab: no bot is called so; there are bob$"):
        bots_called(calls, ["bab"], "--only")
    with pytest.raises(UserError, match="there are ann, ann@1, ann@2$"):
        bots_called(calls, ["*@3"], "--only")
    assert is_called(("old-ann@1", "old-ann"), ["new-*", "old-*"])
    assert not is_called(("ann",), [])
