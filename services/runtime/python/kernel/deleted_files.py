"""Finds deleted files that still use disk space, because a run's processes have them open or mapped."""

from __future__ import annotations

import os
import re
import stat
from typing import Callable, Iterable, Iterator, NamedTuple, Optional, Set, Tuple

_BLOCK_BYTES = 512
# Matches a mapped file that has been deleted: addresses, permissions, offset, device and inode.
_MAPPED = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) .* \(deleted\)$"
)
_DELETED = b" (deleted)\n"
_IN_TRANSIT = re.compile(rb"^scm_fds:\s*[1-9]", re.MULTILINE)

# Yields descriptors of the processes' folders (/proc/{pid}). Each descriptor is closed before the next one is opened.
Processes = Callable[[], Iterable[int]]


class Size(NamedTuple):
    """A file's disk usage. `identity` prevents a file from being counted twice."""

    identity: Tuple[int, int]
    names: int
    bytes: int


def size_of(status: os.stat_result) -> Size:
    """Returns a file's disk usage, without the folder entries for its names."""
    names = 1 if stat.S_ISDIR(status.st_mode) else status.st_nlink
    return Size((status.st_dev, status.st_ino), names, status.st_blocks * _BLOCK_BYTES)


def sizes(process: int, devices: Set[int]) -> Iterator[Optional[Size]]:
    """Yields the deleted files on these devices that a process has open or mapped. A file may occur repeatedly.
    Occasionally yields None, so that the caller can pause."""
    for name in _names(process, "fd"):
        yield _without_name(process, f"fd/{name}", devices)
    yield from _mapped(process, devices)


def sends_files(process: int) -> bool:
    """Whether one of the process's Unix sockets has received open files that the process has not read yet. Such files
    may not be open in any process, and cannot be identified."""
    for name in _names(process, "fd"):
        try:
            if not stat.S_ISSOCK(os.stat(f"fd/{name}", dir_fd=process).st_mode):
                continue
            with open(f"fdinfo/{name}", "rb", opener=_inside(process)) as file:
                if _IN_TRANSIT.search(file.read()):
                    return True
        except OSError:
            # The descriptor was closed in the meantime.
            continue
    return False


def _mapped(process: int, devices: Set[int]) -> Iterator[Optional[Size]]:
    try:
        file = open("maps", "rb", opener=_inside(process))
    except OSError:
        return
    with file:
        try:
            for line in file:
                found = _MAPPED.match(line) if line.endswith(_DELETED) else None
                yield None if found is None else _size_of_mapped(process, found, devices)
        except OSError:
            # The process has exited.
            return


def _size_of_mapped(process: int, found: "re.Match[bytes]", devices: Set[int]) -> Optional[Size]:
    first, last, offset, major, minor, inode = found.groups()
    try:
        status = os.stat(f"map_files/{first.decode()}-{last.decode()}", dir_fd=process)
    except PermissionError:
        # Only root can read the size. For other users, the mapped size counts.
        identity = (os.makedev(int(major, 16), int(minor, 16)), int(inode))
        if identity[0] not in devices:
            return None
        return Size(identity, 0, int(offset, 16) + int(last, 16) - int(first, 16))
    except OSError:
        return None
    return _counted(status, devices)


def _without_name(process: int, path: str, devices: Set[int]) -> Optional[Size]:
    try:
        return _counted(os.stat(path, dir_fd=process), devices)
    except OSError:
        return None


def _counted(status: os.stat_result, devices: Set[int]) -> Optional[Size]:
    if status.st_nlink == 0 and stat.S_ISREG(status.st_mode) and status.st_dev in devices:
        return size_of(status)
    return None


def _names(process: int, folder: str) -> Iterable[str]:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=process)
    except OSError:
        return ()
    try:
        return os.listdir(descriptor)
    except OSError:
        return ()
    finally:
        os.close(descriptor)


def _inside(folder: int) -> Callable[[str, int], int]:
    return lambda path, flags: os.open(path, flags, dir_fd=folder)
