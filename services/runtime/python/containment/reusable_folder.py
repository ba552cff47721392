"""The folder that a supervisor reuses for its next run.

For a file system, creating and removing folders costs more than checking them. Therefore, the next run of a script gets
the emptied folder of the previous run. A changed folder is replaced with a new folder. Files are never kept, because a
run may have passed an open file to another run.
"""

from __future__ import annotations

import array
import fcntl
import os
import stat
from typing import AbstractSet, FrozenSet, Optional

from .machine import Machine
from .run_folder import DATA, FILES, FOLDER, TMP, RunFolder, empty, remove_tree

KEPT_PREFIX = ".kept-"
# A larger folder is not reused, because folders never shrink on some file systems.
_LARGEST_FOLDER_BYTES = 64 * 1024
_GET_FLAGS = 0x80086601
_NOTHING: FrozenSet[str] = frozenset()


class ReusableFolder:
    """Holds at most one folder between two runs of the same script."""

    def __init__(self, runs: str, machine: Machine) -> None:
        """@param runs the folder that contains the run folders"""
        self._runs = runs
        # Folders are reused only with Landlock. Only Landlock prevents a run from writing to an open folder that it
        # received from another run.
        self._may_keep = machine.has("landlock")
        self._kept: Optional[RunFolder] = None

    def open(self, run_id: str) -> RunFolder:
        """Returns the kept folder, or creates a new one.

        @raises SandboxError, OSError
        """
        folder, self._kept = self._kept, None
        if folder is not None:
            try:
                folder.rename(run_id)
                return folder
            except OSError:
                folder.remove()
        return RunFolder(self._runs, run_id)

    def keep(self, folder: RunFolder) -> None:
        """Empties the folder for the next run, or removes the folder if it cannot be reused. All processes of the
        previous run must be dead."""
        if not self._may_keep:
            folder.remove()
            return
        try:
            # Renames the folder, because the same run may be prepared again, which creates a folder with the run's
            # name.
            folder.rename(f"{KEPT_PREFIX}{os.getpid()}")
            _make_like_new(folder)
            self._kept = folder
        except OSError:
            folder.remove()

    def remove(self) -> None:
        """Removes the kept folder."""
        if self._kept is not None:
            self._kept.remove()
            self._kept = None


def _make_like_new(folder: RunFolder) -> None:
    has_data = folder.has_data and _is_empty_data(folder)
    is_kept = _clear(folder, FILES, frozenset((DATA,)) if has_data else _NOTHING)
    folder.has_data = has_data and is_kept
    _clear(folder, TMP, _NOTHING)


def _clear(folder: RunFolder, name: str, kept: AbstractSet[str]) -> bool:
    """Empties `files` or `tmp`.

    @returns whether the entries in `kept` still exist
    """
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
    """Whether `data` is still an empty mount point with unchanged attributes."""
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
    owner = os.geteuid() if folder.user is None else folder.user
    return (
        status.st_mode == stat.S_IFDIR | mode
        and status.st_uid == owner
        and status.st_size <= _LARGEST_FOLDER_BYTES
        and not _attributes(inner)
        and _flags(inner) == _flags(folder.descriptor)
    )


def _attributes(inner: int) -> FrozenSet[str]:
    """Returns the extended attributes that a script can set."""
    try:
        names = os.listxattr(inner)
    except OSError:
        # The file system has no extended attributes.
        return _NOTHING
    return frozenset(name for name in names if not name.startswith("security."))


def _flags(inner: int) -> int:
    """Returns the inode flags, such as case folding, or 0 if the file system has none."""
    flags = array.array("l", [0])
    try:
        fcntl.ioctl(inner, _GET_FLAGS, flags)
    except OSError:
        return 0
    return flags[0]
