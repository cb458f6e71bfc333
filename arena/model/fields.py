"""Types of fields, with the ranges that any file must keep to, and canonical JSON.

Ranges are checked while a file is decoded, at no cost that can be measured. They are wider than
anything that is played.
"""

import hashlib
from typing import Annotated, Any

import msgspec
from msgspec import Meta

_canonical = msgspec.json.Encoder(order="sorted")


def canonical(value: Any) -> bytes:  # noqa: ANN401 - any msgspec-encodable value
    """Encode as compact JSON with sorted keys: the only form that is ever hashed."""
    return _canonical.encode(value)


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Frozen(msgspec.Struct, frozen=True):
    """Common options of the durable records."""


Text = Annotated[str, Meta(max_length=10_000)]
Label = Annotated[str, Meta(max_length=200)]
Seat = Annotated[int, Meta(ge=0, le=7)]
Score = Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Milliseconds = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Bytes = Annotated[int, Meta(ge=0, le=1 << 30)]
Rating = Annotated[float, Meta(ge=-1e6, le=1e6)]
Width = Annotated[float, Meta(ge=1e-3, le=1e6)]
