"""Wait without a sign of life for three rounds of the watch, then answer."""

import time

start = time.monotonic()
time.sleep(6)
assert 5.9 < time.monotonic() - start < 60
print("OK", flush=True)
