"""Prepares a run's workspace: its files, its data folder and their owner.

Files are opened one path segment at a time with O_NOFOLLOW, relative to an open folder. A link that a script has
created causes an error, and is never followed.
"""

from __future__ import annotations

import os
import stat
from typing import Iterable, NamedTuple, Optional, Sequence

from wire.frames import SandboxError
from wire.run_spec import RunFile, RunSpec

from .disk_quota import DiskQuota
from .machine import Machine
from .run_folder import DATA, FOLDER, OWN_FOLDER, RunFolder
from .script_user import user_of

# How long the initial content may be measured before the run starts. This is enough for many thousands of files. A
# longer measurement continues while the run executes.
_FIRST_MEASURE_SECONDS = 0.05
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_COPY_BYTES = 1024 * 1024
# The launcher's umask clears these permission bits of new files.
_MASKED = 0o022


class Workspace(NamedTuple):
    """A prepared workspace.

    `user` is the ID of the script's system user, or None if scripts run as this process's user. `data` is the folder
    for files below `data/`.
    """

    user: Optional[int]
    data: str


def prepare_workspace(
    spec: RunSpec, machine: Machine, folder: RunFolder, pipes: Iterable[int]
) -> Workspace:
    """Creates everything that is mounted for the script. The version's files can be copied later.

    @param pipes the pipes for the run's output
    @raises SandboxError, OSError
    """
    user = user_of(spec.user, folder.users) if machine.has("script_user") else None
    folder.give_to(user, passable=not machine.has("mount_namespace"))
    if user is not None:
        for path in spec.read_write:
            _give_tree(path, user)
        for path in spec.private_paths:
            _open_to_group(path, user)
        for pipe in pipes:
            # Gives the pipe to the script's user, so that the script can open /dev/stdout.
            os.fchown(pipe, user, user)
    return Workspace(user, _prepare_data(spec, machine, folder, user))


def _prepare_data(spec: RunSpec, machine: Machine, folder: RunFolder, user: Optional[int]) -> str:
    """Returns the folder for files below `data/`. In the workspace, `data` is a mount point, or a link if mounts are
    unavailable."""
    inside = os.path.join(folder.files, DATA)
    if spec.data_folder is not None:
        _make_data_folder(spec.data_folder, user)
        if not machine.has("mount_namespace"):
            os.symlink(spec.data_folder, inside)
            return spec.data_folder
    if not folder.has_data:
        os.mkdir(inside, 0o755)
        if user is not None:
            os.chown(inside, user, user)
        folder.has_data = spec.data_folder is not None
    return spec.data_folder or inside


def measure_disk(spec: RunSpec, folder: RunFolder) -> Optional[DiskQuota]:
    """Returns the run's disk quota, which takes the current content of its folders into account."""
    if spec.limits.disk_bytes is None:
        return None
    kept = [] if spec.data_folder is None else [spec.data_folder]
    folders = [folder.files, folder.tmp, *kept, *spec.read_write]
    quota = DiskQuota(spec.limits.disk_bytes, folders)
    quota.check(_FIRST_MEASURE_SECONDS)
    return quota


def _make_data_folder(path: str, user: Optional[int]) -> None:
    """Opens the folder at this path, and creates it if necessary.

    @raises SandboxError if the folder cannot be created, or if the path is not a folder
    """
    try:
        try:
            folder = os.open(path, FOLDER)
        except FileNotFoundError:
            os.makedirs(path, 0o755, exist_ok=True)
            folder = os.open(path, FOLDER)
        try:
            if user is not None:
                _give_tree(path, user)
                if stat.S_IMODE(os.fstat(folder).st_mode) != OWN_FOLDER:
                    os.fchmod(folder, OWN_FOLDER)
        finally:
            os.close(folder)
    except OSError as error:
        raise SandboxError("workspace", f"data folder: {error}") from error


def _give_tree(path: str, user: int) -> None:
    """Changes the owner of a file, or of a folder with its content, unless the user is already the owner.

    Earlier versions of the platform stored these files as root. A file with several names keeps its owner, because
    another script may use it. The owner of the top folder is changed last, as a marker of completion.
    """
    status = os.stat(path, follow_symlinks=False)
    if status.st_uid == user:
        return
    inner = os.fwalk(path, topdown=False) if stat.S_ISDIR(status.st_mode) else ()
    for _path, folders, files, folder in inner:
        for name in folders + files:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if status.st_nlink == 1 or stat.S_ISDIR(status.st_mode):
                os.chown(name, user, user, dir_fd=folder, follow_symlinks=False)
    os.chown(path, user, user, follow_symlinks=False)


def _open_to_group(path: str, user: int) -> None:
    """Restricts access to a file or folder to its owner and the given user. The user gets access through the group."""
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        status = os.fstat(opened)
        mode = 0o750 if stat.S_ISDIR(status.st_mode) else 0o440
        if status.st_gid != user:
            os.fchown(opened, -1, user)
        if stat.S_IMODE(status.st_mode) != mode:
            os.fchmod(opened, mode)
    finally:
        os.close(opened)


def copy_files(files: Sequence[RunFile], folder: RunFolder, data: str) -> None:
    """Copies the version's files. Existing files below `data/` are not replaced.

    @param data the folder for files below `data/`
    @raises SandboxError if a file cannot be copied
    """
    for file in files:
        kept = file.path[0] == DATA and len(file.path) > 1
        parts = file.path[1:] if kept else file.path
        try:
            _copy(file, data if kept else folder.files, parts, folder.user)
        except FileExistsError as error:
            if not kept:
                raise _copy_error(file, error) from error
        except OSError as error:
            raise _copy_error(file, error) from error


def _copy_error(file: RunFile, error: OSError) -> SandboxError:
    return SandboxError("workspace", f"{'/'.join(file.path)}: {error.strerror}")


def _copy(file: RunFile, base: str, parts: Sequence[str], user: Optional[int]) -> None:
    folder = os.open(base, FOLDER)
    try:
        for part in parts[:-1]:
            folder = _step_into(folder, part, user)
        target = os.open(parts[-1], _NEW_FILE, file.mode, dir_fd=folder)
        try:
            _copy_bytes(file.source, target)
            if user is not None:
                os.fchown(target, user, user)
            if file.mode & _MASKED:
                os.fchmod(target, file.mode)
        finally:
            os.close(target)
    finally:
        os.close(folder)


def _step_into(folder: int, name: str, user: Optional[int]) -> int:
    """Opens the folder `name` in `folder`, and creates it if necessary. Closes `folder`."""
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
        if user is not None:
            os.chown(name, user, user, dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        pass
    inner = os.open(name, FOLDER, dir_fd=folder)
    os.close(folder)
    return inner


def _copy_bytes(path: str, target: int) -> None:
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            raise OSError(0, "the source is not a regular file")
        while os.sendfile(target, source, None, _COPY_BYTES):
            pass
    finally:
        os.close(source)
