"""The results folder: event.json, the append-only log of matches, the index, and bots' stderr.

    event.json       settings, entrants, commitment; the secret once the event is over
    private.json     until then: the secret and the bots' paths; for the owner alone
    matches.jsonl    the log: a line a finished match, in the order in which they finished
    matches.index    where each match is, and how much of the log is durable
    matches.damaged  damaged lines that were moved out of the log
    stderr/          what each bot wrote to stderr last, by match, and when it failed
    epoch-1/ …       results folders of bots that were added to the finished event
    lock             held by the writer; the kernel releases a killed writer's

All other files (tables) are derived and can be made again; so can the index.

Invariant: a line once synced is never changed; there is one writer at a time; damage is never
believed, and never ignored in silence.
"""

from arena.store.folder import (
    Announced,
    Private,
    claim_folder,
    is_results_folder,
    others_read_private,
    prepare,
    read_event,
    read_event_file,
    read_private,
    secret_of,
    staged_folder,
)
from arena.store.lines import Head, add_checksum, canonical_line, read_lines, record_line
from arena.store.lock import await_writer, writer
from arena.store.log_reader import (
    DamagedError,
    damage,
    is_indexed,
    log_size,
    read_at,
    read_by_id,
    read_counted,
    read_placed,
    read_records,
    read_some,
    records_of_match,
    records_of_series,
)
from arena.store.log_writer import Store
