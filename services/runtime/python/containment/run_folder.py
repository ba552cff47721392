"""Creates and removes a run's folder without following links.

Folders are opened one path segment at a time with O_NOFOLLOW, relative to an open folder. A link that a script has
created causes an error or is unlinked, but is never followed.
"""

from __future__ import annotations

import fcntl
import os
from typing import AbstractSet, Callable, List, Optional

from kernel import syscalls
from wire.frames import SandboxError

# With these flags, only folders can be opened, because a script may have replaced a folder with a link or a file.
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
OWN_FOLDER = 0o700
# The subfolders of a run's folder.
FILES, TMP = "files", "tmp"
# The folder for persistent files in a workspace.
DATA = "data"


class RunFolder:
    """A run's folder, `{runs}/{run_id}`. Its subfolders `files` and `tmp` belong to the run's user.

    The folder is locked while its supervisor lives. An unlocked folder is a leftover and may be removed. A second
    supervisor on this host cannot prepare the same run. `user` is the owner of `files` and `tmp`. `has_data` states
    whether `files` has a folder for persistent data.
    """

    def __init__(self, runs: str, run_id: str) -> None:
        # The folder that records this host's system users.
        self.users = os.path.join(runs, ".users")
        self.has_data = False
        self.user: Optional[int] = None
        self._runs = runs
        self._be_called(run_id)
        self.descriptor = self._create()
        for name in (FILES, TMP):
            self.make(name)

    def _be_called(self, name: str) -> None:
        self.path = os.path.join(self._runs, name)
        self.files = os.path.join(self.path, FILES)
        self.tmp = os.path.join(self.path, TMP)

    def _create(self) -> int:
        lock = self._create_locked()
        while lock is None:
            lock = self._create_locked()
        return lock

    def _create_locked(self) -> Optional[int]:
        remove_leftover(self._runs, os.path.basename(self.path))
        try:
            os.mkdir(self.path, OWN_FOLDER)
        except FileExistsError:
            raise SandboxError("workspace", "a process of this run is still alive") from None
        lock = None
        try:
            lock = os.open(self.path, FOLDER)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.stat(self.path), os.fstat(lock)):
                return lock
        except FileNotFoundError:
            pass
        # Another supervisor removed the folder as a leftover before it was locked.
        if lock is not None:
            os.close(lock)
        return None

    def rename(self, name: str) -> None:
        """Renames the folder.

        @raises OSError if this fails, for example because the new name exists
        """
        syscalls.rename_to_new(self.path, os.path.join(self._runs, name))
        self._be_called(name)

    def give_to(self, user: Optional[int], passable: bool) -> None:
        """Gives `files` and `tmp` to a system user, so that no other user can access them. With None, the subfolders
        keep this process's user.

        @param passable whether the user must be able to reach the subfolders by their host paths
        """
        if user is None:
            for name in (FILES, TMP):
                os.chmod(name, self.mode_of(name), dir_fd=self.descriptor)
            return
        if user != self.user:
            for name in (FILES, TMP):
                os.chown(name, user, user, dir_fd=self.descriptor)
            self.user = user
        if passable:
            os.fchmod(self.descriptor, 0o711)

    def make(self, name: str) -> None:
        """Creates `files` or `tmp`, which must be missing."""
        os.mkdir(name, OWN_FOLDER, dir_fd=self.descriptor)
        if self.user is not None:
            os.chown(name, self.user, self.user, dir_fd=self.descriptor)

    def mode_of(self, name: str) -> int:
        """Returns the mode of `files` or `tmp` after `give_to`."""
        if self.user is not None:
            return OWN_FOLDER
        return 0o755 if name == FILES else 0o1777

    def remove(self) -> None:
        """Removes the folder and everything in it. All processes of the run must be dead."""
        remove_tree(self._runs, os.path.basename(self.path))
        os.close(self.descriptor)


def remove_leftover(
    runs: str, name: str, prepare: Callable[[str], object] = lambda _path: None
) -> None:
    """Removes `{runs}/{name}`, unless a live supervisor has locked it.

    @param prepare called with the folder's path before the removal
    """
    try:
        folder = os.open(os.path.join(runs, name), FOLDER)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        prepare(os.path.join(runs, name))
        remove_tree(runs, name)
    except BlockingIOError:
        pass
    finally:
        os.close(folder)


def remove_tree(parent: str, name: str) -> None:
    """Removes a folder of any depth and with any permissions. Links are unlinked. Subfolders are moved to the top one
    by one, so that deep trees and long paths cause no errors."""
    outer = os.open(parent, FOLDER)
    try:
        top = os.open(name, FOLDER, dir_fd=outer)
        try:
            empty(top)
        finally:
            os.close(top)
        os.rmdir(name, dir_fd=outer)
    except FileNotFoundError:
        pass
    finally:
        os.close(outer)


def empty(top: int, kept: AbstractSet[str] = frozenset()) -> None:
    """Removes everything in a folder, except the entries named in `kept`. @param top an open descriptor of the
    folder"""
    waiting: List[str] = []
    _unlink_files(top, top, waiting, kept)
    while waiting:
        name = waiting.pop()
        if _remove_empty(name, top):
            continue
        _make_accessible(name, top)
        folder = os.open(name, FOLDER, dir_fd=top)
        try:
            _unlink_files(folder, top, waiting)
        finally:
            os.close(folder)
        os.rmdir(name, dir_fd=top)


def _unlink_files(
    folder: int, top: int, waiting: List[str], kept: AbstractSet[str] = frozenset()
) -> None:
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if name in kept:
            continue
        if not is_folder:
            os.unlink(name, dir_fd=folder)
        elif folder == top:
            waiting.append(name)
        elif not _remove_empty(name, folder):
            waiting.append(_move_up(name, folder, top))


def _remove_empty(name: str, folder: int) -> bool:
    """Tries a plain removal first, because most folders of most runs are empty. Returns whether the removal succeeded.
    """
    try:
        os.rmdir(name, dir_fd=folder)
        return True
    except OSError:
        return False


def _move_up(name: str, folder: int, top: int) -> str:
    # Moving a folder changes its ".." entry, which requires write permission for the folder.
    _make_accessible(name, folder)
    free = f".removing-{os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino}"
    os.rename(name, free, src_dir_fd=folder, dst_dir_fd=top)
    return free


def _make_accessible(name: str, outer: int) -> None:
    """Makes a folder accessible regardless of its permissions. Changing the mode by name would follow a link with that
    name."""
    folder = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=outer)
    try:
        os.chmod(f"/proc/self/fd/{folder}", 0o700)
    finally:
        os.close(folder)
