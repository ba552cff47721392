"""Which limit a script met, by the last line of its traceback.

The kernel refuses what is over a limit, and Python raises: only the script's own words tell of it.
"""

from __future__ import annotations

from typing import Optional, Tuple

from .spec import Limits
from .watch import MEMORY_LIMIT


def explain(stderr: bytes, limits: Limits) -> Tuple[Optional[str], Optional[str]]:
    """The reason, where the contract has one, and a sentence; both None for any other end.

    @param stderr its end
    """
    last = stderr.rstrip().rsplit(b"\n", 1)[-1]
    name = last.split(b":", 1)[0].rsplit(b".", 1)[-1]
    if name.endswith(b"MemoryError"):
        # Also of classes derived from it.
        return MEMORY_LIMIT, _memory(limits)
    if b"[Errno 24]" in last and limits.open_files is not None:
        return None, f"limit of {limits.open_files} open files met"
    if b"[Errno 27]" in last and limits.disk_bytes is not None:
        return None, f"a file grew to the disk limit of {limits.disk_bytes} bytes"
    if name == b"BlockingIOError" or b"can't start new thread" in last:
        if limits.processes is not None:
            return None, f"limit of {limits.processes} processes and threads met"
    return None, None


def _memory(limits: Limits) -> str:
    sentence = "the script ended with an uncaught MemoryError"
    if limits.address_space_bytes is None:
        return sentence
    return f"{sentence}: a process may have {limits.address_space_bytes} bytes of addresses"
