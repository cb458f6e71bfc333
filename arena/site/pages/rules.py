"""The rules of a game in a language, from the package's own sheets.

Touches the package's files alone. Invariant: as in `arena.site.pages`; a sheet is markup of ours.
"""

from __future__ import annotations

from importlib.resources import files

from arena.site.markup import Safe, tag
from arena.site.pages.frame import GAMES, Site, page
from arena.site.words import LANGUAGES


def rules(site: Site, game: str, language: str) -> str:
    """One sheet, with the ways to all others."""
    sheet = files("arena.site") / "assets" / "rules" / f"{game}.{language}.html"
    games = [
        tag(
            "a",
            GAMES[other],
            href=f"{other}.{language}.html",
            aria_current="page" if other == game else None,
        )
        for other in GAMES
    ]
    others = [
        tag("a", shown, href=f"{game}.{code}.html", lang=code, hreflang=code)
        for code, shown in LANGUAGES.items()
        if code != language
    ]
    return page(
        site,
        tag("nav", *games, class_="tabs", aria_label=GAMES[game]),
        Safe(sheet.read_text("utf-8")),
        tag("p", *(part for link in others for part in (link, " "))),
        up="../",
        title=GAMES[game],
        game=game,
        about={"data_sheet": game},
        language=language,
    )
