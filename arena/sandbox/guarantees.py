"""The guarantees that a sandbox can give, and the known gaps, in words. Pure data.

A `Probe` lists those that its canary has checked, and that are open; SECURITY.md explains them.
"""

from collections.abc import Mapping

GUARANTEES: Mapping[str, str] = {
    "network": "no network and no socket but pairs of its own",
    "files": "reads nothing but its own folder and the system's programs",
    "writes": "writes nothing but its scratch space, and changes no file's modes or times",
    "processes": "neither sees nor signals a process that isn't its own",
    "calls": "system calls are filtered: no privileges, namespaces, tracing or kernel objects",
    "channels": "no shared memory, queue, lock or notification that another bot sees",
    "memory": "its processes together keep to their memory",
    "tasks": "its processes and threads keep to their number",
    "disk": "its scratch space is limited in bytes and in files",
    "cpu": "leaves neither its cores nor its priority",
    "lifetime": "nothing of it outlives its series",
}

GAPS: Mapping[str, str] = {
    "cache timing": "bots that live at the same time can signal each other by the timing of "
    "caches, memory and disks",
    "futexes": "likewise by futexes on pages of files that all may read",
    "kernel counters": "likewise by what the kernel counts for all, as in /proc/stat",
    "user counters": "bots of one user, where no spare users are to be had, can signal each "
    "other by what the kernel counts for a user: descriptors in flight, pages of pipes",
    "page cache": "what a bot has read or looked for stays in memory after its end: the next "
    "one can tell which pages of the system's files, and of an installation's, were read, and "
    "which names were asked for, in its own folder too (some 1,000 bits a second)",
    "file names": "whether a file exists, its size, its times and where a link leads can be "
    "asked for by its path",
    "access times": "reading a file of the system's or of an installation leaves a trace in "
    "its access time",
    "process numbers": "whether a process exists and how much CPU it has used can be asked "
    "for by its number",
    "bookkeeping memory": "what the kernel keeps about a process, up to 13 MB each, "
    "isn't counted as memory",
}

EVERYWHERE = ("cache timing", "futexes", "kernel counters", "page cache")
"""The gaps of every sandbox on a shared machine. Rotations of a deal are never played at the same
time, so the first three reveal nothing of another rotation; the last one does."""
