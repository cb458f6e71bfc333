"""Deals: vectors, fairness of the shuffle, independence of streams."""

import hashlib
import json
from collections import Counter
from itertools import islice
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from arena.deals import (
    Deals,
    _stream,
    commitment,
    fingerprint,
    secret_from_seed,
    shuffled,
    with_beacon,
)
from arena.games.play_nine import GAME
from arena.model import Entrant, Settings, pairing_id

VECTORS = Path(__file__).parents[2] / "protocol" / "vectors" / "deals.json"
SECRET = secret_from_seed("tests")


def test_a_beacon_changes_what_is_drawn_from():
    """Without one it is the secret itself; with one it tells nothing of it."""
    assert SECRET == with_beacon(SECRET, "")
    drawn = {with_beacon(SECRET, beacon) for beacon in ("", "a", "b")}
    assert 3 == len(drawn)
    assert {32} == set(map(len, drawn))


def plain_shuffle(key, items):
    """DEALS.md written again, without the code's shortcuts."""
    stream = iter(hashlib.shake_256(key).digest(20_000))
    order = list(items)
    for i in reversed(range(1, len(order))):
        byte = next(stream)
        while byte >= 256 - 256 % (i + 1):
            byte = next(stream)
        j = byte % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


@given(st.binary(max_size=40), st.integers(0, 256))
def test_the_shuffle_is_the_documented_one(key, size):
    """An independent reading of the page gives the same order, at every size."""
    assert plain_shuffle(key, range(size)) == shuffled(key, range(size))


def test_a_long_run_of_rejections_squeezes_the_stream_further():
    """129 items reject almost half of all bytes; the stream never runs dry."""
    for n in range(200):
        key = b"%d" % n
        assert plain_shuffle(key, range(129)) == shuffled(key, range(129))


def test_every_order_is_equally_likely():
    """Chi-squared over the 24 orders of four items, a fixed sample."""
    counts = Counter(tuple(shuffled(b"%d" % n, "abcd")) for n in range(24_000))
    assert 24 == len(counts)
    chi2 = sum((count - 1000) ** 2 / 1000 for count in counts.values())
    assert chi2 < 49.7  # the 99.9th percentile with 23 degrees of freedom


def test_the_published_vectors_recompute():
    """The file that others test against is what the page says, by the test's own shuffle."""
    vectors = json.loads(VECTORS.read_text())
    secret = hashlib.sha256(b"nine-arena/1/seed/protocol").digest()
    assert vectors["secret"] == secret.hex()
    for deck in vectors["decks"]:
        label = f"nine-arena/1/deck/{deck['pairing']}/{deck['deal']}/{deck['hole']}".encode()
        pack = sorted(deck["cards"])
        assert plain_shuffle(secret + label, pack) == deck["cards"]
        again = deck["reshuffle"]
        assert plain_shuffle(secret + label + b"/1", again["of"]) == again["cards"]
    sealed = {
        "entrants": vectors["commitment"]["entrants"],
        "secret": secret.hex(),
        "settings": vectors["commitment"]["settings"],
    }
    text = json.dumps(sealed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert vectors["commitment"]["value"] == hashlib.sha256(text.encode()).hexdigest()


def test_ids_and_the_commitment_are_those_of_the_vectors():
    """By the model: what settings are by default is part of what was published."""
    vectors = json.loads(VECTORS.read_text())
    assert vectors["pairing"]["id"] == pairing_id(vectors["pairing"]["entrants"])
    published = vectors["commitment"]
    settings = Settings(game="play-nine", seats=3)
    assert published["settings"] == msgspec.json.decode(msgspec.json.encode(settings))
    entrants = [
        Entrant(id=name, name=name, version="1", author=author, hash=content)
        for name, author, content in published["entrants"]
    ]
    secret = bytes.fromhex(vectors["secret"])
    assert published["value"] == commitment(secret, settings, entrants)


def test_streams_don_t_depend_on_what_was_asked_before():
    """Two users of the same secret may ask in any order."""
    one, two = Deals(SECRET), Deals(SECRET)
    one.deck("p", 1, 1, GAME.pack(2)).reshuffle(1, [1, 2, 3])
    one.seed("m", 0)
    assert two.deck("p", 1, 2, GAME.pack(2)).cards == one.deck("p", 1, 2, GAME.pack(2)).cards


def test_each_hole_deal_pairing_and_secret_has_a_deck_of_its_own():
    """No two of these may be alike."""
    pack = GAME.pack(2)
    decks = [
        Deals(secret).deck(pairing, deal, hole, pack).cards
        for secret in (SECRET, bytes(32))
        for pairing in ("a", "b")
        for deal in (1, 11)
        for hole in (1, 2)
    ]
    assert len(decks) == len({tuple(deck) for deck in decks})
    assert all(sorted(deck) == sorted(pack) for deck in decks)


def test_turn_ids_hold_the_number_and_letters_that_can_t_be_guessed():
    """Ids of a match are stable, however far one counts; another match has others."""
    deals = Deals(SECRET)
    ids, others = deals.turn_ids("m"), deals.turn_ids("n")
    far = ids(5_000)
    assert far.startswith("5000-")
    assert far == deals.turn_ids("m")(5_000)
    assert ids(3) == deals.turn_ids("m")(3)
    assert not {ids(n) for n in range(1, 100)} & {others(n) for n in range(1, 100)}


def test_a_bot_s_seed_fits_31_bits_and_its_match_name_tells_nothing():
    """Seeds differ by seat; the opaque name holds no part of the id."""
    deals = Deals(SECRET)
    seeds = {deals.seed("0123456789ab-000001-0", seat) for seat in range(8)}
    assert 8 == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert 16 == len(deals.opaque("0123456789ab-000001-0"))


def test_the_commitment_changes_with_everything_it_covers():
    """Secret, settings, entrants; but not the order in which entrants were named."""
    one = Entrant(id="a@1", name="a", version="1", hash="00")
    two = Entrant(id="b@1", name="b", version="1", hash="11")
    other = Entrant(id="b@1", name="b", version="1", hash="12")
    settings = Settings(game="play-nine")
    base = commitment(SECRET, settings, [one, two])
    assert base == commitment(SECRET, settings, [two, one])
    changed = {
        commitment(bytes(32), settings, [one, two]),
        commitment(SECRET, Settings(game="play-nine", deals=11), [one, two]),
        commitment(SECRET, settings, [one, other]),
        commitment(SECRET, settings, [one]),
    }
    assert base not in changed
    assert 4 == len(changed)


def test_a_fingerprint_tells_packs_and_their_order_apart():
    """Same cards in another order, or another split into holes, is another fingerprint."""
    prints = {
        fingerprint([[1, 2], [3]]),
        fingerprint([[1], [2, 3]]),
        fingerprint([[2, 1], [3]]),
        fingerprint([]),
    }
    assert 4 == len(prints)


def test_a_fingerprint_is_the_documented_one():
    """DEALS.md once more: a byte a card, plus 5, and 255 between holes."""
    told = hashlib.sha256(bytes([0, 4, 5, 255, 17, 58])).hexdigest()[:16]
    assert told == fingerprint([[-5, -1, 0], [12, 53]])


def documented(label, size):
    """DEALS.md: the stream of a label."""
    return hashlib.shake_256(SECRET + f"nine-arena/1/{label}".encode()).digest(size)


def test_every_stream_is_the_documented_one():
    """What else is derived from the secret, by the page's table."""
    deals = Deals(SECRET)
    assert documented("order/m", 8) == deals.place("m")
    ranks = {name: documented(f"tables/0/1/{name}", 8) for name in ("a@1", "ß@1")}
    assert ranks == deals.ranks("0/1", ["a@1", "ß@1"])
    assert int.from_bytes(documented("seed/m/3", 4), "big") // 2 == deals.seed("m", 3)
    assert documented("name/m", 8).hex() == deals.opaque("m")
    pack = tuple(range(40))
    key = SECRET + b"nine-arena/1/deck/p/2/3"
    deck = deals.deck("p", 2, 3, pack)
    assert (tuple(plain_shuffle(key, pack)), 7) == (deck.cards, len(deck.reshuffle(1, range(7))))
    assert plain_shuffle(key + b"/2", pack[:30]) == deck.reshuffle(2, pack[:30])


def test_turn_ids_are_the_documented_ones():
    """Four bytes a question, the low five bits of each a letter; far beyond the first squeeze."""
    letters = "0123456789abcdefghjkmnpqrstvwxyz"
    stream = documented("turn/m", 4 * 2_100)
    ids = Deals(SECRET).turn_ids("m")
    for number in (1, 2, 3, 510, 511, 512, 513, 1_023, 1_024, 2_099):
        four = stream[4 * number : 4 * number + 4]
        assert f"{number}-{''.join(letters[byte % 32] for byte in four)}" == ids(number)


def test_a_stream_goes_on_for_ever():
    """However often it is squeezed, it is one stream."""
    assert hashlib.shake_256(b"key").digest(1_000) == bytes(islice(_stream(b"key", 10), 1_000))


def test_ranks_and_circles_hold_everybody_once():
    """Circles are orders of the entrants, whatever order they are named in."""
    deals = Deals(SECRET)
    names = ["c@1", "a@1", "b@1"]
    assert sorted(names) == sorted(deals.circle("p", 0, names))
    assert deals.circle("p", 0, names) == deals.circle("p", 0, sorted(names))
    assert set(names) == set(deals.ranks("0/0", names))
    assert [0, 1, 2] == sorted(deals.rotations("p", 0, 3))


def test_a_deck_is_the_same_when_it_is_dealt_again():
    """Decks that are at hand and decks made anew don't differ, and can't be changed."""
    pack = tuple(range(40))
    deals = Deals(bytes(32))
    first = deals.deck("p", 1, 1, pack)
    for deal in range(2, 1500):
        deals.deck("p", deal, 1, pack)
    again = deals.deck("p", 1, 1, pack)
    assert first is not again
    assert first.cards == again.cards == Deals(bytes(32)).deck("p", 1, 1, pack).cards
    assert isinstance(first.cards, tuple)
