"""The rules of a game in a language, from the package's own sheets.

Touches the package's files alone. Invariant: as in `arena.site.pages`; a sheet is markup of ours.
"""

from __future__ import annotations

from arena import registry
from arena.site.markup import Safe, tag
from arena.site.pages.frame import Site, game_name, page, sheets_of
from arena.site.words import LANGUAGES


def rules(site: Site, game: str, language: str) -> str:
    """One sheet, with links to all others."""
    sheet = registry.game(game).about.sheet(language)
    assert sheet is not None
    games = [
        tag(
            "a",
            game_name(other),
            href=f"{other}.{language if language in sheets else sheets[0]}.html",
            aria_current="page" if other == game else None,
        )
        for other in registry.GAMES
        if (sheets := sheets_of(other))
    ]
    others = [
        tag("a", LANGUAGES[code], href=f"{game}.{code}.html", lang=code, hreflang=code)
        for code in sheets_of(game)
        if code != language
    ]
    return page(
        site,
        tag("nav", *games, class_="tabs", aria_label=game_name(game)),
        Safe(sheet),
        tag("p", *(part for link in others for part in (link, " "))),
        up="../",
        title=game_name(game),
        game=game,
        about={"data_sheet": game},
        language=language,
    )
