"""Measures a run's disk usage: its workspace, its data folder, and deleted files that it holds open.

The measurement has small steps, so that many files do not block the supervisor. Paths are opened one segment at a time,
relative to open folders, so that no link is followed.
"""

from __future__ import annotations

import os
import stat
import time
from typing import Iterator, List, Optional, Sequence, Set, Tuple

from kernel import deleted_files
from kernel.deleted_files import Processes, Size

from .run_folder import FOLDER
from .sizes import mebibytes

# The maximum folder depth. All folders on the path to the current one are held open.
_DEEPEST = 400
# The minimum number of bytes to count for each name. An empty file uses an inode, and the number of inodes on a
# disk is limited. Another hard link uses space in its folder.
_LEAST_BYTES = 4096
# A disk with less free space than this counts as full. On a small disk, only one part in `_RESERVE_PART` is reserved.
_RESERVE_BYTES, _RESERVE_PART = 256 * 1024**2, 20
_LOOK_AT_CLOCK_EVERY = 50


class _TooDeep(Exception):
    pass


class DiskQuota:
    """The disk limit for a run's folders. Initial content that exceeds a lowered limit does not count."""

    def __init__(
        self, limit_bytes: int, folders: Sequence[str], reserve_bytes: Optional[int] = None
    ) -> None:
        """@param reserve_bytes if less disk space is free, runs that hold deleted files open are stopped"""
        self._limit_bytes = limit_bytes
        self._folders = folders
        self._reserve_bytes = reserve_bytes
        self._allowed_bytes: Optional[int] = None
        self._meter = _Meter(folders)

    def check(self, seconds: float, processes: Processes = lambda: ()) -> Optional[str]:
        """Measures for a limited time. Returns a sentence if the limit is exceeded.

        @param processes descriptors of the processes' folders (/proc/{pid})
        """
        if self._is_full() and any(deleted_files.sends_files(process) for process in processes()):
            return (
                "the disk is almost full, and the run is passing open files between its processes, "
                "whose size cannot be measured"
            )
        try:
            used_bytes = self._meter.advance(seconds, processes, self._allowed_bytes)
        except _TooDeep:
            return f"folders are nested more than {_DEEPEST} levels deep: the disk limit cannot be enforced"
        if used_bytes is None:
            return None
        if self._allowed_bytes is None:
            self._allowed_bytes = max(self._limit_bytes, used_bytes)
        if used_bytes <= self._allowed_bytes:
            return None
        return (
            f"disk limit of {mebibytes(self._limit_bytes)} exceeded: {mebibytes(used_bytes)} used by "
            f"the workspace, its data/ and temporary files, each counted as at least {_LEAST_BYTES} bytes"
        )

    def _is_full(self) -> bool:
        for folder in self._folders:
            try:
                disk = os.statvfs(folder)
            except OSError:
                continue
            size_bytes = disk.f_blocks * disk.f_frsize
            reserve_bytes = self._reserve_bytes
            if reserve_bytes is None:
                reserve_bytes = min(_RESERVE_BYTES, size_bytes // _RESERVE_PART)
            if disk.f_bavail * disk.f_frsize < reserve_bytes:
                return True
        return False


class _Meter:
    """Adds up file sizes in repeated passes over the folders."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders
        self._pass: Optional[Iterator[int]] = None
        self._total = 0

    def advance(
        self, seconds: float, processes: Processes, enough: Optional[int]
    ) -> Optional[int]:
        """Continues the current pass. Returns the total at the end of the pass, or as soon as the total exceeds
        `enough`. Otherwise, returns None."""
        if self._pass is None:
            self._pass, self._total = self._sizes(processes), 0
        until = time.monotonic() + seconds
        for count, size in enumerate(self._pass):
            self._total += size
            if enough is not None and self._total > enough:
                break
            if count % _LOOK_AT_CLOCK_EVERY == 0 and time.monotonic() >= until:
                return None
        self._pass = None
        return self._total

    def _sizes(self, processes: Processes) -> Iterator[int]:
        seen: Set[Tuple[int, int]] = set()
        devices: Set[int] = set()
        for path in self._folders:
            try:
                folder = os.open(path, FOLDER)
            except (FileNotFoundError, NotADirectoryError):
                continue
            devices.add(os.fstat(folder).st_dev)
            for size in _walk(folder):
                yield _first_time(size, seen, again=_LEAST_BYTES)
        for process in processes():
            for held in deleted_files.sizes(process, devices):
                yield 0 if held is None else _first_time(held, seen, again=0)


def _first_time(size: Size, seen: Set[Tuple[int, int]], again: int) -> int:
    """Returns the size to count for a file.

    @param again the size to return for a file with several names that was already counted
    """
    if size.names != 1:
        if size.identity in seen:
            return again
        seen.add(size.identity)
    return max(size.bytes, _LEAST_BYTES)


def _walk(top: int) -> Iterator[Size]:
    """Yields the sizes of the files in `top`. Takes ownership of the descriptor `top`, and closes it at the end."""
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
            yield deleted_files.size_of(status)
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
        # The folder was removed, replaced with a file, or made inaccessible to this user.
        return None
