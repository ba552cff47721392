"""Puts what a run needs where it will look for it, as files of the user that it will be."""

from __future__ import annotations

import os
from typing import Iterable, NamedTuple, Optional

from .disk import DiskQuota
from .folders import DATA, RunFolder, copy_files, give_tree, make_data_folder, open_to_group
from .identity import user_of
from .machine import Machine
from .spec import RunSpec

# Many thousand files; what is more is measured while the run executes.
_FIRST_MEASURE_SECONDS = 0.05


class Places(NamedTuple):
    """`user`: the number of the script's own user; None where it has the one that this process has.
    `data`: where files below `data/` are copied to."""

    user: Optional[int]
    data: str


def make_places(
    spec: RunSpec, machine: Machine, folder: RunFolder, pipes: Iterable[int]
) -> Places:
    """Everything that the script's process mounts: its files may come meanwhile.

    @param pipes of the run's output
    @raises SandboxError, OSError
    """
    user = user_of(spec.user, folder.users) if machine.has("script_user") else None
    folder.give_to(user, passable=not machine.has("mount_namespace"))
    if user is not None:
        for path in spec.read_write:
            give_tree(path, user)
        for path in spec.private_paths:
            open_to_group(path, user)
        for pipe in pipes:
            # So that it can open /dev/stdout.
            os.fchown(pipe, user, user)
    return Places(user, _place_data(spec, machine, folder, user))


def place_files(spec: RunSpec, folder: RunFolder, places: Places) -> None:
    """Fills the run's folder. @raises SandboxError, OSError"""
    copy_files(spec.files, folder, places.data)


def _place_data(
    spec: RunSpec, machine: Machine, folder: RunFolder, user: Optional[int]
) -> str:
    """Where files below `data/` are copied to; `data` itself is a mount point, or a link where
    nothing can be mounted."""
    inside = os.path.join(folder.files, DATA)
    if spec.data_folder is not None:
        make_data_folder(spec.data_folder, user)
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
    """The quota of a run, with what is there before it begins."""
    if spec.limits.disk_bytes is None:
        return None
    kept = [] if spec.data_folder is None else [spec.data_folder]
    folders = [folder.files, folder.tmp, *kept, *spec.read_write]
    quota = DiskQuota(spec.limits.disk_bytes, folders)
    quota.check(_FIRST_MEASURE_SECONDS)
    return quota
