"""Publish events to a site's folder, or publish them anew (`arena publish`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from arena.event.results import long_read_notes
from arena.machine import Notify
from arena.model import UserError
from arena.site.aliases import default_place, read_or_make
from arena.site.clearance import Clearance, key_fingerprint, site_key
from arena.site.folder import SiteFolder, new_index, write_failed
from arena.site.publish import (
    Progress,
    PublishedSummary,
    PublishOptions,
    publish,
    read_sources,
)


def update_site(
    folders: Sequence[Path],
    site: Path,
    options: PublishOptions,
    notify: Notify,
    progress: Progress,
) -> list[PublishedSummary]:
    """Write the events in some results folders as a static site; other events in it stay."""
    anonymous = options.anonymous
    if options.name is not None and len(folders) > 1:
        raise UserError("--name: for one folder; publish the others on their own")
    if options.alias_key is not None and not anonymous:
        raise UserError("--alias-key: goes with --anonymous")
    if anonymous and (options.stderr or options.host):
        raise UserError("--with-stderr, --with-host: may hold names; not with --anonymous")
    with closing(SiteFolder(site)) as target:
        for line in long_read_notes(folders):
            notify(line)
        found = read_sources(folders)
        index = target.index or new_index(title=options.title or "", anonymous=anonymous)
        if index.anonymous != anonymous:
            raise UserError(
                f"{site}: its names are aliases: add --anonymous, or publish to another folder"
                if index.anonymous
                else f"{site}: it has names in it already; an anonymous site needs a folder of "
                "its own"
            )
        key = b""
        if anonymous:
            key = site_key(read_or_make(options.alias_key or default_place(), site), index.id)
            if index.key not in ("", key_fingerprint(key)):
                raise UserError(
                    f"{site}: its aliases were made with another key; name its file: "
                    "--alias-key FILE"
                )
            index = msgspec.structs.replace(index, key=key_fingerprint(key))
        clearing = Clearance(key=key, stderr=options.stderr, host=options.host)
        try:
            target.begin(index)
        except OSError as error:
            raise write_failed(site, error) from None
        return publish(target, found, options, clearing, progress)
