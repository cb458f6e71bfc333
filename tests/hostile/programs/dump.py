"""Leaves a core file: disk space that nobody counts, and a helper that runs outside as root."""

import os
import resource

try:
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
except OSError as error:
    print("HELD", error)
pid = os.fork()
if pid == 0:
    os.abort()
_, status = os.waitpid(pid, 0)
print("BROKE a core was dumped" if os.WCOREDUMP(status) else f"HELD status {status}, no core")
