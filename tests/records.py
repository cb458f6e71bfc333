"""Records of matches that nobody has played: the one place where tests make them."""

import msgspec

from arena.model import MatchRecord, match_id


def match_record(spec=None, *, digest=False, **fields):
    """A record of a spec, or of one that is made up; `digest`: with the one that it should have."""
    if spec is not None:
        fields = msgspec.structs.asdict(spec) | fields
    pairing, deal, rotation = (
        fields.setdefault(name, default)
        for name, default in (("pairing", "p"), ("deal", 0), ("rotation", 0))
    )
    seats = fields.setdefault("seats", ("a@1", "b@1"))
    totals = fields.setdefault("totals", (0,) * len(seats))
    made = {
        "id": match_id(pairing, deal, rotation),
        "series": f"{pairing}-000000-s0",
        "deck": "d",
        "holes": (),
        "places": tuple(1 + sum(other < mine for other in totals) for mine in totals),
    }
    record = MatchRecord(**made | fields)
    return msgspec.structs.replace(record, digest=record.computed_digest()) if digest else record
