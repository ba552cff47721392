"""The context of layers: a run, or a spare process before it has a run."""

from __future__ import annotations

import marshal
from typing import List, NamedTuple, Optional

from kernel import mounts
from kernel.cgroups import Group, Groups
from wire.run_spec import RunSpec, pack_spec, unpack_spec

from .machine import Machine
from .run_folder import RunFolder


class Run(NamedTuple):
    """A run with its folders as host paths and the ID of its system user."""

    spec: RunSpec
    machine: Machine
    root: str
    files: str
    tmp: str
    user: Optional[int]
    # Descriptors for the supervisor.
    for_supervisor: List[int]

    @property
    def workspace(self) -> str:
        """The workspace's path as the script sees it."""
        if self.has_own_root:
            return mounts.workspace_path(self.spec.script_id)
        return self.files

    @property
    def has_own_root(self) -> bool:
        """Whether the run has its own root."""
        return self.machine.has("mount_namespace")


class Spare:
    """A process without a run. Roots are built in the folder `root`.

    `view` is a descriptor of the mount namespace that has both the root and the host's files, `proc` a
    folder descriptor of the root's /proc, `group` the control group. Each is None until it exists.
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
