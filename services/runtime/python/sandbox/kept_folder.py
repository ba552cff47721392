"""The folder of runs that follow each other under one supervisor.

To make and to remove folders and files costs a file system more than to look whether they are as they
were: so the next run of a script gets the folder of the one before, emptied. What stays in it, a
version's files and the folders around them, is looked at: whatever is not as in a new one is made anew.
"""

from __future__ import annotations

import array
import fcntl
import os
import stat
from typing import AbstractSet, FrozenSet, Optional, Set

from .folders import DATA, FILES, FOLDER, TMP, RunFolder, empty, remove_tree
from .spec import RunFile

KEPT_PREFIX = ".kept-"
# A larger one is copied about as fast as it is read twice.
_MOST_COMPARED_BYTES = 64 * 1024
# On some file systems a folder stays as large as it once was.
_LARGEST_FOLDER_BYTES = 64 * 1024
_GET_FLAGS = 0x80086601


class KeptFolder:
    """One at most, between two runs of the same script."""

    def __init__(self, runs: str) -> None:
        """@param runs the folder of the run folders"""
        self._runs = runs
        self._kept: Optional[RunFolder] = None

    def open(self, run_id: str) -> RunFolder:
        """For the next run: what was kept, or a new one. @raises SandboxError, OSError"""
        folder, self._kept = self._kept, None
        if folder is not None:
            try:
                folder.rename(run_id)
                return folder
            except OSError:
                folder.remove()
        return RunFolder(self._runs, run_id)

    def keep(self, folder: RunFolder) -> None:
        """All processes of its run are dead."""
        try:
            # The same run may come again.
            folder.rename(f"{KEPT_PREFIX}{os.getpid()}")
            _make_like_new(folder)
            self._kept = folder
        except OSError:
            folder.remove()

    def remove(self) -> None:
        """No run follows."""
        if self._kept is not None:
            self._kept.remove()
            self._kept = None


def _make_like_new(folder: RunFolder) -> None:
    copied = [file for file in folder.copied if _is_as_copied(folder, file)]
    kept: Set[str] = {file.path[0] for file in copied}
    folder.has_data = folder.has_data and _is_empty_data(folder)
    if folder.has_data:
        kept.add(DATA)
    is_kept = _clear(folder, FILES, kept)
    folder.copied = frozenset(copied) if is_kept else frozenset()
    folder.has_data = folder.has_data and is_kept
    _clear(folder, TMP, frozenset())


def _clear(folder: RunFolder, name: str, kept: AbstractSet[str]) -> bool:
    """Whether what was to be kept is still there."""
    inner = os.open(name, FOLDER, dir_fd=folder.descriptor)
    try:
        is_like_new = _is_like_new(inner, folder, folder.mode_of(name))
        if is_like_new:
            empty(inner, kept)
    finally:
        os.close(inner)
    if not is_like_new:
        remove_tree(folder.path, name)
        folder.make(name)
    return is_like_new


def _is_empty_data(folder: RunFolder) -> bool:
    """Nothing but a place to mount on."""
    try:
        data = os.open(os.path.join(FILES, DATA), FOLDER, dir_fd=folder.descriptor)
    except OSError:
        return False
    try:
        return _is_like_new(data, folder, 0o755) and not os.listdir(data)
    finally:
        os.close(data)


def _is_like_new(inner: int, folder: RunFolder, mode: int) -> bool:
    status = os.fstat(inner)
    return (
        _has(status, folder, stat.S_IFDIR | mode)
        and status.st_size <= _LARGEST_FOLDER_BYTES
        and not _attributes(inner)
        and _flags(inner) == _flags(folder.descriptor)
    )


def _is_as_copied(folder: RunFolder, file: RunFile) -> bool:
    try:
        copy = os.open(
            os.path.join(FILES, file.path[0]),
            os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK,
            dir_fd=folder.descriptor,
        )
    except OSError:
        return False
    try:
        status = os.fstat(copy)
        return (
            _has(status, folder, stat.S_IFREG | file.mode)
            and status.st_nlink == 1
            and status.st_size <= _MOST_COMPARED_BYTES
            and not _attributes(copy)
            and os.read(copy, _MOST_COMPARED_BYTES) == _content(file.source)
        )
    finally:
        os.close(copy)


def _content(path: str) -> Optional[bytes]:
    try:
        source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        # With one byte more it is not the same.
        return os.read(source, _MOST_COMPARED_BYTES + 1)
    finally:
        os.close(source)


def _has(status: os.stat_result, folder: RunFolder, mode: int) -> bool:
    owner = os.geteuid() if folder.user is None else folder.user
    return status.st_mode == mode and status.st_uid == owner


def _attributes(file: int) -> FrozenSet[str]:
    """Without those that only the system sets."""
    try:
        names = os.listxattr(file)
    except OSError:
        # There are none on such a file system.
        return frozenset()
    return frozenset(name for name in names if not name.startswith("security."))


def _flags(file: int) -> int:
    """Such as those that change how names are compared; 0 where a file system has none."""
    flags = array.array("l", [0])
    try:
        fcntl.ioctl(file, _GET_FLAGS, flags)
    except OSError:
        return 0
    return flags[0]
