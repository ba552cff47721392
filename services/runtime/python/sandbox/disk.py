"""What a run takes on the disk: its files, what it keeps, and what it has open and removed already.

Measured a little at a time, so that many files do not keep the supervisor from its other work, and
part by part relative to open folders, so that no link is followed.
"""

from __future__ import annotations

import os
import stat
import time
from typing import Callable, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from .folders import FOLDER

# Each folder on the way down is held open.
_DEEPEST = 400
_BLOCK_BYTES = 512
# What a file, folder or link counts at least: an empty one takes an inode, of which a disk has few.
_LEAST_BYTES = 4096
_LOOK_AT_CLOCK_EVERY = 50


class _TooDeep(Exception):
    pass


class _Size(NamedTuple):
    """Of one file: the same one is not to be counted twice."""

    identity: Tuple[int, int]
    names: int
    bytes: int


OpenFiles = Callable[[], Iterable[int]]


class DiskQuota:
    """What the folders of a run may take together. What was there before its start does not count
    against a limit that was lowered since."""

    def __init__(self, limit_bytes: int, folders: Sequence[str]) -> None:
        self._limit_bytes = limit_bytes
        self._allowed_bytes: Optional[int] = None
        self._meter = _Meter(folders)

    def check(self, seconds: float, open_files: OpenFiles = lambda: ()) -> Optional[str]:
        """Measures for so long at most, and says in a sentence that there is too much.

        @param open_files folder descriptors of what processes have open (/proc/{pid}/fd)
        """
        try:
            used_bytes = self._meter.advance(seconds, open_files, self._allowed_bytes)
        except _TooDeep:
            return f"folders are nested more than {_DEEPEST} deep: the disk limit cannot be kept"
        if used_bytes is None:
            return None
        if self._allowed_bytes is None:
            self._allowed_bytes = max(self._limit_bytes, used_bytes)
        if used_bytes <= self._allowed_bytes:
            return None
        return (
            f"disk limit of {self._limit_bytes} bytes exceeded: {used_bytes} bytes used by the "
            f"workspace, its data/ and temporary files, of which each counts {_LEAST_BYTES} bytes at least"
        )


class _Meter:
    """Adds up, pass by pass."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders
        self._pass: Optional[Iterator[int]] = None
        self._total = 0

    def advance(
        self, seconds: float, open_files: OpenFiles, enough: Optional[int]
    ) -> Optional[int]:
        """Bytes, at the end of a pass, or as soon as there are more than `enough`; None while a pass is
        under way."""
        if self._pass is None:
            self._pass, self._total = self._sizes(open_files), 0
        until = time.monotonic() + seconds
        for count, size in enumerate(self._pass):
            self._total += size
            if enough is not None and self._total > enough:
                break
            if count % _LOOK_AT_CLOCK_EVERY == 0 and time.monotonic() >= until:
                return None
        self._pass = None
        return self._total

    def _sizes(self, open_files: OpenFiles) -> Iterator[int]:
        seen: Set[Tuple[int, int]] = set()
        devices: Set[int] = set()
        for path in self._folders:
            try:
                folder = os.open(path, FOLDER)
            except (FileNotFoundError, NotADirectoryError):
                continue
            devices.add(os.fstat(folder).st_dev)
            for size in _walk(folder):
                yield _first_time(size, seen)
        for descriptors in open_files():
            for size in _removed(descriptors, devices):
                yield _first_time(size, seen)


def _first_time(size: _Size, seen: Set[Tuple[int, int]]) -> int:
    if size.names != 1:
        if size.identity in seen:
            return 0
        seen.add(size.identity)
    return size.bytes


def _walk(top: int) -> Iterator[_Size]:
    """Closes the folder in the end."""
    opened: List[int] = [top]
    try:
        waiting = [_entries(top)]
        while waiting:
            entry = next(waiting[-1], None)
            if entry is None:
                waiting.pop()
                os.close(opened.pop())
                continue
            name, status = entry
            yield _size_of(status)
            if stat.S_ISDIR(status.st_mode):
                inner = _open(name, opened[-1])
                if inner is not None:
                    opened.append(inner)
                    waiting.append(_entries(inner))
                if len(opened) > _DEEPEST:
                    raise _TooDeep
    finally:
        for folder in opened:
            os.close(folder)


def _entries(folder: int) -> Iterator[Tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                yield entry.name, entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue


def _open(name: str, folder: int) -> Optional[int]:
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except OSError:
        # Gone meanwhile, or no folder any more, or closed to this user.
        return None


def _removed(descriptors: int, devices: Set[int]) -> Iterator[_Size]:
    """Files without a name on the run's devices, among a process's open ones."""
    try:
        names = os.listdir(descriptors)
    except OSError:
        return
    for name in names:
        try:
            status = os.stat(name, dir_fd=descriptors)
        except OSError:
            continue
        if status.st_nlink == 0 and stat.S_ISREG(status.st_mode) and status.st_dev in devices:
            yield _size_of(status)


def _size_of(status: os.stat_result) -> _Size:
    names = 1 if stat.S_ISDIR(status.st_mode) else status.st_nlink
    return _Size((status.st_dev, status.st_ino), names, max(status.st_blocks * _BLOCK_BYTES, _LEAST_BYTES))
