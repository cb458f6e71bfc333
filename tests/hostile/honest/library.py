"""The standard library's corners: time zones, locale, random, hashes, big numbers, recursion."""

import array
import collections
import ctypes
import datetime as dt
import decimal
import functools
import gc
import hashlib
import heapq
import locale
import math
import os
import pickle
import platform
import random
import re
import resource
import secrets
import selectors
import signal
import socket
import sqlite3
import ssl
import struct
import sys
import time
import urllib.parse
import uuid
import zlib

assert time.tzname[0] == "UTC"
assert time.localtime(0).tm_hour == 0
assert dt.datetime.now().astimezone().utcoffset() == dt.timedelta(0)
locale.setlocale(locale.LC_ALL, "")
assert sys.getfilesystemencoding() == "utf-8"
assert "ä♠".encode().decode() == "ä♠"
assert len({secrets.token_hex(8), uuid.uuid4().hex, os.urandom(8), random.random()}) == 4
assert random.Random(1).random() == 0.13436424411240122
assert hashlib.shake_256(b"x").hexdigest(4) == hashlib.new("shake_256", b"x").hexdigest(4)
assert hash("x") == hash("x")
assert zlib.decompress(zlib.compress(b"x" * 1000)) == b"x" * 1000
assert math.comb(108, 54) % 1_000_003 == math.comb(108, 54) % 1_000_003
assert decimal.Decimal(1) / 3 < 1
assert os.getuid() >= 0
assert os.cpu_count() >= 1
assert platform.system() == "Linux"
assert pickle.loads(pickle.dumps(collections.Counter("abca")))["a"] == 2
assert ctypes.CDLL(None).getpid() == os.getpid()
assert sqlite3.connect(":memory:").execute("select 1 + 1").fetchone() == (2,)
assert ssl.create_default_context()
assert urllib.parse.quote("ä") == "%C3%A4"
assert socket.gethostname()
assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 256
selectors.DefaultSelector().close()
assert len(os.sched_getaffinity(0)) >= 1

sys.setrecursionlimit(20_000)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


assert depth(15_000) == 15_000


@functools.cache
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


assert ways(200) > 0
blocks = [bytearray(1 << 20) for _ in range(200)]
assert len(blocks) == 200
del blocks
rings = []
for _ in range(50_000):
    ring = []
    ring.append(ring)
gc.collect()
heap = [(n * 7919) % 10_007 for n in range(50_000)]
heapq.heapify(heap)
assert heapq.heappop(heap) == 0
assert array.array("d", struct.pack("3d", 1, 2, 3)).pop() == 3
assert re.fullmatch(r"take [0-5]", "take 3")
caught = []
signal.signal(signal.SIGALRM, lambda *_: caught.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
assert caught
print("OK", flush=True)
