"""The objects to which layers are applied: a run, or a spare process that has no run yet."""

from __future__ import annotations

import marshal
from typing import List, NamedTuple, Optional

from kernel import mounts
from kernel.cgroups import Group, Groups
from wire.run_spec import RunSpec, pack_spec, unpack_spec

from .machine import Machine
from .run_folder import RunFolder


class Run(NamedTuple):
    """A run, with the host paths of its folders and the ID of its system user."""

    spec: RunSpec
    machine: Machine
    root: str
    files: str
    tmp: str
    user: Optional[int]
    # Descriptors to send to the supervisor.
    for_supervisor: List[int]

    @property
    def workspace(self) -> str:
        """The workspace's path inside the sandbox."""
        if self.has_own_root:
            return mounts.workspace_path(self.spec.script_id)
        return self.files

    @property
    def has_own_root(self) -> bool:
        """Whether the run has its own root file system."""
        return self.machine.has("mount_namespace")


class Spare:
    """A process that has no run yet.

    The roots of its runs are built in the folder `root`. `view` is a descriptor of the mount namespace with the root
    and the host's files. `proc` is a descriptor of the root's /proc folder. `group` is the control group. Each is None
    until it is created.
    """

    def __init__(self, root: str, groups: Optional[Groups]) -> None:
        self.root = root
        self.groups = groups
        self.view: Optional[int] = None
        self.proc: Optional[int] = None
        self.group: Optional[Group] = None


def pack_run(spec: RunSpec, folder: RunFolder, user: Optional[int]) -> bytes:
    """Encodes a run for another process of this interpreter."""
    return marshal.dumps((pack_spec(spec), folder.files, folder.tmp, user))


def unpack_run(data: bytes, machine: Machine, root: str) -> Run:
    """Decodes the result of `pack_run`."""
    spec, files, tmp, user = marshal.loads(data)
    return Run(unpack_spec(spec), machine, root, files, tmp, user, [])
