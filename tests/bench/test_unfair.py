"""Each alarm of the audit and each refusal of `arena verify`, set off by one planted unfairness."""

import shutil
import sys

import pytest
import unfair
from msgspec.structs import replace
from unfair import FAIR, FORGERIES, PLANTS, PROGRAMS, judged, main, played

from arena.audit.report import AuditPart


@pytest.fixture(autouse=True)
def _commands_are_forks(monkeypatch, warm):
    monkeypatch.setattr(unfair, "arena", lambda *words: warm(*words, cwd=unfair.ROOT))


@pytest.fixture(scope="module")
def fair(tmp_path_factory):
    """A small fair event."""
    return played(tmp_path_factory.mktemp("unfair") / FAIR, replace(PLANTS[FAIR], deals=6), "small")


def test_every_alarm_and_every_kind_of_refusal_has_its_event():
    """A part of the audit that is added needs an event here."""
    assert set(AuditPart) == {plan.alarm for plan in PLANTS.values()} - {""}
    kinds = {"commitment", "deck", "scores", "luck", "schedule", "checksum", "table"}
    assert kinds == {forgery.refusal for forgery in FORGERIES.values()}


@pytest.mark.parametrize("name", [FAIR, *FORGERIES])
@pytest.mark.long("every forgery", quick=("cards", "table"))
def test_a_forgery_is_refused_for_what_it_is(fair, tmp_path, name):
    """By `arena verify`, by the second verifier if it is about deals; the audit calls nothing."""
    copy = shutil.copytree(fair, tmp_path / name)
    if name == FAIR:
        found = judged(copy)
        assert ("", False, frozenset()) == (found.verify, found.second, found.audit)
        return
    forgery = FORGERIES[name]
    forgery.forge(copy)
    found = judged(copy)
    assert (forgery.refusal, forgery.second) == (found.verify, found.second)
    assert frozenset() == found.audit


@pytest.mark.long("planted unfairness", quick=("slow",))
@pytest.mark.parametrize("name", [FAIR, "slow", "remembers", "feeds"])
def test_an_alarm_goes_off_on_its_own_event_and_no_other_does(name, monkeypatch, capsys):
    """As in the table of docs/design/audit.md, all of which takes a minute: `bench/unfair.py`."""
    monkeypatch.setattr(sys, "argv", ["unfair.py", name])
    assert 0 == main(), capsys.readouterr().out


@pytest.mark.long("legal moves of another")
def test_legal_moves_of_another_are_found_by_playing_again(monkeypatch, capsys):
    """Nothing else can find them."""
    monkeypatch.setattr(sys, "argv", ["unfair.py", PROGRAMS])
    assert 0 == main(), capsys.readouterr().out
