"""subprocess in all its forms, pipes between children, their signals and their ends."""

import os
import signal
import subprocess
import sys

assert subprocess.run(["/bin/echo", "x"], capture_output=True, check=True).stdout == b"x\n"
assert subprocess.check_output("echo a b | tr ' ' '\n' | sort -r", shell=True) == b"b\na\n"
assert subprocess.run(["/bin/sh", "-c", "exit 7"], check=False).returncode == 7
with subprocess.Popen(["/bin/sleep", "60"]) as sleeper:
    sleeper.terminate()
    assert sleeper.wait(10) == -signal.SIGTERM
with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as sleeper:
    os.killpg(sleeper.pid, signal.SIGKILL)
    assert sleeper.wait(10) == -signal.SIGKILL
try:
    subprocess.run(["/bin/sleep", "60"], timeout=0.05, check=False)
    raise AssertionError
except subprocess.TimeoutExpired:
    pass
again = "import sys; sys.stdout.write(sys.stdin.read().upper())"
made = subprocess.check_output([sys.executable, "-c", again], input="up", text=True)
assert made == "UP", made
for _ in range(30):
    assert os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1] == 0
print("OK", flush=True)
