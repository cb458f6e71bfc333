"""As much of json as the good bot needs, beside it as json.py: to load the other takes a third of
its start, and the tests start it some thousand times.
"""

import _json


class _Reader:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo = {}  # noqa: RUF012 - the scanner's own


def loads(text):
    text = text.strip()
    value, end = _json.make_scanner(_Reader)(text, 0)
    if end != len(text):
        raise ValueError(f"Extra data: char {end}")
    return value


def dumps(value, indent=None):
    if indent:
        fields = (f"{' ' * indent}{dumps(name)}: {dumps(each)}" for name, each in value.items())
        return "{\n" + ",\n".join(fields) + "\n}"
    encode = _json.encode_basestring_ascii
    make = _json.make_encoder
    return "".join(make(None, None, encode, None, ": ", ", ", False, False, True)(value, 0))
