"""Where results go: made first, never another's, and gone again if nothing came of it."""

import time

import pytest

from arena.model import UserError
from arena.store import claim_folder


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_what_stays_empty_is_gone_again(tmp_path):
    """With the folders above it that were made for it, and no others."""
    (tmp_path / "mine").mkdir()
    for out in (None, tmp_path / "mine" / "a" / "b", tmp_path / "mine"):
        with claim_folder(out) as folder:
            assert [] == list(folder.iterdir())
    assert [tmp_path / "mine"] == list(tmp_path.rglob("*"))


def test_what_was_filled_stays_also_after_an_error(tmp_path):
    """The command's results are nobody else's to remove."""

    def interrupted():
        with claim_folder(tmp_path / "a" / "b") as folder:
            (folder / "event.json").write_text("{}")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "a" / "b" / "event.json").exists()


def test_two_of_one_second_have_folders_of_their_own(monkeypatch):
    """By a number behind the time."""
    monkeypatch.setattr(time, "strftime", lambda form: f"{form.partition('%')[0]}now")
    with claim_folder(None) as one, claim_folder(None) as two, claim_folder(None, "play-") as three:
        assert ["now", "now-2", "play-now"] == [one.name, two.name, three.name]


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("full", "full is not empty; choose another folder with --out"),
        ("full/file", "full/file: can't write there: "),
        ("full/file/below", "full/file/below: can't write there: "),
    ],
)
def test_what_can_t_hold_results_is_refused(tmp_path, out, said):
    """Before anything is spent on them."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(UserError) as refusal, claim_folder((tmp_path / out).relative_to(tmp_path)):
        pytest.fail("it was given a folder")
    assert str(refusal.value).startswith(said)
