"""Be a worse host: take from this process what some machines don't give, then run a command.

    python degrade.py WHAT[,WHAT…] COMMAND…

| what | as on |
|---|---|
| `namespaces` | container runtimes: no clone or unshare of namespaces, no mounts |
| `user-namespaces` | distributions that reserve them: user.max_user_namespaces is 0 |
| `proc` | containers that allow namespaces but mask files of /proc: a fresh one can't be mounted |
| `landlock` | kernels older than 5.13 or started without it |
| `lone-root` | rootless containers: root, but of a namespace that has no other user |

All of it is inherited and none of it can be undone by the command.
"""

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path

import ordinary

CAP_SYS_ADMIN = 21
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
NAMESPACE_FLAGS = 0x7E020000 | 0x80
MS_REC, MS_PRIVATE, MS_BIND = 0x4000, 0x40000, 0x1000

CALLS = {
    # Their numbers on x86-64 and on AArch64.
    "clone": (56, 220),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "pivot_root": (155, 41),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
ARCHITECTURES = {"x86_64": 0, "aarch64": 1}

libc = ctypes.CDLL(None, use_errno=True)


def checked(result, call):
    if result < 0:
        number = ctypes.get_errno()
        sys.exit(f"degrade: {call}: {os.strerror(number)}")


def refuse(rules):
    """Install a filter: (call, error, flags), where flags other than 0 are those of argument 0
    that make it be refused.
    """
    column = ARCHITECTURES[os.uname().machine]
    load, jump_equal, jump_set, give = 0x20, 0x15, 0x45, 0x06
    program = [(load, 0, 0, 0)]
    for call, error, flags in rules:
        verdict = (give, 0, 0, 0x0005_0000 | error)
        number = CALLS[call][column]
        if flags:
            program += [
                (jump_equal, 0, 4, number),
                (load, 0, 0, 16),
                (jump_set, 0, 1, flags),
                verdict,
                (load, 0, 0, 0),
            ]
        else:
            program += [(jump_equal, 0, 1, number), verdict]
    program.append((give, 0, 0, 0x7FFF_0000))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    given = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    )
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    checked(libc.prctl(PR_SET_SECCOMP, 2, given, 0, 0), "seccomp")


def without_namespaces():
    if os.geteuid() == 0:
        # Root in a container finds its interpreter where anybody may go.
        here = Path.cwd()
        ordinary.open_ways([*map(Path, (sys.base_prefix, sys.prefix)), ordinary.PROJECT, here])
        os.chdir(here)
        checked(libc.prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0), "drop CAP_SYS_ADMIN")
    others = ("mount", "open_tree", "move_mount", "fsopen", "mount_setattr", "pivot_root", "setns")
    refuse(
        [
            ("clone", errno.EPERM, NAMESPACE_FLAGS),
            ("unshare", errno.EPERM, NAMESPACE_FLAGS),
            ("clone3", errno.ENOSYS, 0),
            *((call, errno.EPERM, 0) for call in others),
        ]
    )


def own_namespace(uid_map="", gid_map=""):
    """A user namespace with maps of its own, if none are given the ones we have; own mounts."""
    lonely = os.geteuid() != 0 or Path("/proc/self/uid_map").read_text().split()[2] == "1"
    everybody = "0 0 4294967295"
    uid_map = uid_map or (f"{os.geteuid()} {os.geteuid()} 1" if lonely else everybody)
    gid_map = gid_map or (f"{os.getegid()} {os.getegid()} 1" if lonely else everybody)
    # Only a process outside may map more than one uid.
    ready, begin = os.pipe()
    outside = os.fork()
    if outside == 0:
        os.read(ready, 1)
        folder = Path(f"/proc/{os.getppid()}")
        if lonely:
            (folder / "setgroups").write_text("deny")
        (folder / "uid_map").write_text(uid_map)
        (folder / "gid_map").write_text(gid_map)
        os._exit(0)
    checked(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    os.write(begin, b"!")
    if os.waitpid(outside, 0)[1]:
        sys.exit("degrade: the namespace can't be mapped")
    checked(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "mount /")


def without_user_namespaces():
    own_namespace()
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def with_masked_proc():
    own_namespace()
    for hidden in map(Path, ("/proc/kcore", "/proc/timer_list", "/proc/keys")):
        if hidden.exists():
            checked(libc.mount(b"/dev/null", bytes(hidden), None, MS_BIND, None), "mask /proc")


def without_landlock():
    names = [call for call in CALLS if call.startswith("landlock")]
    refuse([(call, errno.ENOSYS, 0) for call in names])


def as_lone_root():
    own_namespace(f"0 {os.geteuid()} 1", f"0 {os.getegid()} 1")


LOSSES = {
    "lone-root": as_lone_root,
    "proc": with_masked_proc,
    "user-namespaces": without_user_namespaces,
    "namespaces": without_namespaces,
    "landlock": without_landlock,
}


def main():
    wanted = sys.argv[1].split(",")
    for name, lose in LOSSES.items():  # in this order: the later ones would forbid the earlier
        if name in wanted:
            lose()
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
