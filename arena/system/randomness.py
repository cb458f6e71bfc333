"""Draw unpredictable bytes, for secrets."""

import secrets
from collections.abc import Callable

token_bytes: Callable[[int], bytes] = secrets.token_bytes

token_hex: Callable[[int], str] = secrets.token_hex  # twice as many digits as bytes
