"""The same suite again as an ordinary user, when root runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

BECOME = """
import os, sys
from pathlib import Path
from arena.sandbox import kernel
wanted = [Path(p) for p in sys.argv[1:4]]
blocked = {}
for path in wanted:
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & 1:
            blocked.setdefault(folder, []).append(path)
            break
kernel.own_mounts()
handles = {path: os.open(path, os.O_PATH) for paths in blocked.values() for path in paths}
for folder, paths in blocked.items():
    # In our own view of the mounts, a folder that anybody may enter takes the private one's place.
    kernel.mount_tmpfs(str(folder), "mode=755")
    for path in paths:
        path.mkdir(parents=True, exist_ok=True)
        kernel.bind(handles[path], str(path))
uid = int(sys.argv[4])
os.chown(sys.argv[5], uid, uid)
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[6:]])
"""

UID = 54_321


@pytest.mark.long("every sandbox as an ordinary user")
def test_suite_as_an_ordinary_user():
    """All backends behave alike for root and for a user without any privilege."""
    if os.geteuid():
        pytest.skip("for root: everything else has just been run as an ordinary user")
    here = Path(__file__).parent
    project = here.parents[1]
    scratch = Path(f"/tmp/arena-as-user-{os.getpid()}")
    scratch.mkdir()
    try:
        run = subprocess.run(
            [
                sys.executable, "-c", BECOME, sys.base_prefix, sys.prefix, str(project), str(UID),
                str(scratch), "-q", "--long", "-p", "no:cacheprovider", f"--basetemp={scratch}/t",
                "-k", "not bwrap-system and not none and not is_flat",
                *(str(here / name) for name in
                  ("test_conformance.py", "test_confinement.py", "test_client.py")),
            ],
            cwd=project,
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(scratch)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )  # fmt: skip
    finally:
        subprocess.run(["rm", "-rf", str(scratch)], check=True)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-4000:]
    assert "passed" in run.stdout
