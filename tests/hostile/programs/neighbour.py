"""Searches the memory and the environment of a neighbouring bot for a word."""

import re
import sys

pid, word = sys.argv[1], sys.argv[2].encode()
reasons = []
for name in ("environ", "mem"):
    try:
        with (
            open(f"/proc/{pid}/maps") as maps,
            open(f"/proc/{pid}/{name}", "rb", buffering=0) as file,
        ):
            spans = [(0, 65536)] if name == "environ" else []
            if name == "mem":
                for line in maps:
                    if "[heap]" in line or "[stack]" in line:
                        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
                        spans.append((begin, end - begin))
            for begin, size in spans:
                file.seek(begin)
                if match := re.search(word + rb"=([0-9a-f]+)", file.read(size)):
                    print("BROKE", name, match[1].decode())
                    sys.exit()
            reasons.append("not found")
    except OSError as error:
        reasons.append(error.strerror)
print("HELD", ", ".join(reasons))
