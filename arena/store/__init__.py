"""The results folder: event.json, the append-only log of matches, and the bots' stderr.

    event.json       what is played, by whom, under which limits; the secret once it is over
    private.json     until the event is over: the secret, where the bots came from; its owner's
    matches.jsonl    one finished match a line, in the order in which they finished
    matches.index    beside it: where each match is, and how much of the log is durable
    matches.damaged  lines of the log that were damaged and set aside
    stderr/          what each bot wrote to stderr last, by match, and when it failed
    epoch-1/ …       what bots played that came to the event when it was over: results folders too
    lock             held while somebody writes; a killed writer's lock is gone with it

Everything else in the folder (tables) is derived and can be made again; so is the index.

`lines` are what the log consists of, `index` finds them; `folder` has the other files, `lock` keeps
to one writer; `destination` makes the folder of a new event; `reading` is for everybody; `opening`
mends what a crash has left, `writing` goes on.

Invariant: a line once synced is never changed; one writer at a time; what is damaged is never
believed, and never passed over in silence.
"""

from arena.store.destination import claimed
from arena.store.folder import (
    Announced,
    EventFile,
    OtherVersionError,
    Private,
    decode_event_file,
    is_results_folder,
    made_whole,
    others_read_private,
    prepare,
    read_event,
    read_event_file,
    read_private,
    secret_of,
    write_atomically,
)
from arena.store.lines import Head, Line, canonical_line, read_lines, record_line, sealed, unsealed
from arena.store.lock import await_writer, writer
from arena.store.log_reader import (
    DamagedError,
    damage,
    is_indexed,
    log_size,
    read_at,
    read_by_id,
    read_placed,
    read_records,
    read_some,
    records_of_match,
    records_of_series,
)
from arena.store.log_writer import Store

__all__ = [
    "Announced",
    "DamagedError",
    "EventFile",
    "Head",
    "Line",
    "OtherVersionError",
    "Private",
    "Store",
    "await_writer",
    "canonical_line",
    "claimed",
    "damage",
    "decode_event_file",
    "is_indexed",
    "is_results_folder",
    "log_size",
    "made_whole",
    "others_read_private",
    "prepare",
    "read_at",
    "read_by_id",
    "read_event",
    "read_event_file",
    "read_lines",
    "read_placed",
    "read_private",
    "read_records",
    "read_some",
    "record_line",
    "records_of_match",
    "records_of_series",
    "sealed",
    "secret_of",
    "unsealed",
    "write_atomically",
    "writer",
]
