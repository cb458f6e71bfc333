"""Recognise that the machine has run out of something: disk, memory, descriptors, processes.

Such a failure is the host's, whichever part of the arena meets it. Pure, standard library only:
the spawner loads it. Invariant: no failure that a bot can cause by itself counts as one;
`ran_out_in` is only for messages of the arena's own parts.
"""

import errno

NO_PROCESSES = "no more processes (`ulimit -u`, or the control group's pids.max)"
_KINDS = (
    (errno.ENOSPC, "no space left on the disk", "no space left on device"),
    (errno.EDQUOT, "the disk quota is used up", "disk quota exceeded"),
    (errno.ENFILE, "the machine is out of file descriptors", "too many open files in system"),
    (
        errno.EMFILE,
        "out of file descriptors (`ulimit -n` sets how many a process may have)",
        "too many open files",
    ),
    (
        errno.ENOMEM, "out of memory",
        "cannot allocate memory", "could not reserve enough space", "memory allocation of",
        "memory exhausted", "memoryerror", "bad_alloc", "out of memory",
    ),
    (errno.ENOLCK, "out of file locks", "no locks available"),
    (
        errno.EFBIG,
        "a file has reached the largest size that this process may write (`ulimit -f`)",
        "file too large", "file size limit exceeded",
    ),
    (
        None, NO_PROCESSES,
        "resource temporarily unavailable", "can't start new thread", "cannot fork", "can't fork",
        "unable to create native thread", "failed to create new os thread",
    ),
)  # fmt: skip
"""The number, our words, and what libc, shells and runtimes print, in lower case."""

_BY_NUMBER = {number: reason for number, reason, *_ in _KINDS if number}
NO_SPACE, NO_QUOTA = _BY_NUMBER[errno.ENOSPC], _BY_NUMBER[errno.EDQUOT]
NO_MAPPING = f"{_BY_NUMBER[errno.ENOMEM]} (a library can't be mapped into it)"
_UNMAPPED = "failed to map segment"  # the dynamic loader's words; there is no number
_LARGEST_LIBRARY = 32 << 20  # and as much again


def why_not(error: OSError) -> str:
    """Why a system call failed: what ran out, or the system's own words."""
    return _BY_NUMBER.get(error.errno or 0) or error.strerror or str(error)


def why_not_started(error: OSError) -> str:
    return NO_PROCESSES if error.errno == errno.EAGAIN else why_not(error)


def ran_out_at_start(error: BaseException) -> str:
    """What ran out, if that is why a process could not be started; else empty."""
    return NO_PROCESSES if getattr(error, "errno", 0) == errno.EAGAIN else ran_out(error)


def ran_out_in(text: str) -> str:
    """What ran out according to a message, ours or the system's; empty: it names nothing."""
    lower = text.lower()
    ours = (reason for _, reason, *_ in _KINDS if reason in text)
    theirs = (reason for _, reason, *words in _KINDS if any(each in lower for each in words))
    return next(ours, "") or next(theirs, "")


def ran_out(error: BaseException) -> str:
    """What ran out, if that is all that an error, its cause or its group is about; else empty."""
    if isinstance(error, BaseExceptionGroup):
        found = [ran_out(each) for each in error.exceptions]
        return found[0] if all(found) else ""
    if isinstance(error, MemoryError):
        return _BY_NUMBER[errno.ENOMEM]
    if isinstance(error, ImportError) and _UNMAPPED in str(error):
        return NO_MAPPING
    if isinstance(error, OSError) and error.errno in _BY_NUMBER:
        return _BY_NUMBER[error.errno]
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return NO_PROCESSES
    return ran_out(error.__cause__) if error.__cause__ else ""


def memory_ran_out() -> str:
    """Return "out of memory" if hardly any is available at this moment; else empty.

    For unexpected errors: without memory the interpreter loses some of its own, and raises
    whatever came next (`SystemError: error return without exception set`).
    """
    try:
        bytearray(_LARGEST_LIBRARY)
    except MemoryError:
        return _BY_NUMBER[errno.ENOMEM]
    return ""
