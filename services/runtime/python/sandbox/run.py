"""What the layers are told of what they contain."""

from __future__ import annotations

from typing import List, NamedTuple, Optional

from . import mounts
from .cgroups import Group, Groups
from .machine import Machine
from .spec import RunSpec


class Run(NamedTuple):
    """What the layers need to know of a run: also its folders as the host sees them, and the
    number of the system user that it is to have."""

    spec: RunSpec
    machine: Machine
    root: str
    files: str
    tmp: str
    user: Optional[int]
    # Descriptors that the supervisor is to have.
    for_supervisor: List[int]

    @property
    def workspace(self) -> str:
        """The workspace's path as the script sees it."""
        if self.has_own_root:
            return mounts.workspace_path(self.spec.script_id)
        return self.files

    @property
    def has_own_root(self) -> bool:
        """Whether paths are those of a root of its own."""
        return self.machine.has("mount_namespace")


class Spare:
    """What the layers need before the run is known: the folder on which its root is built.

    `view` is a descriptor of the mount namespace in which that root is beside all else, `proc` a
    folder descriptor of the /proc in it, `group` the control group, once and where there is one.
    """

    def __init__(self, root: str, groups: Optional[Groups]) -> None:
        self.root = root
        self.groups = groups
        self.view: Optional[int] = None
        self.proc: Optional[int] = None
        self.group: Optional[Group] = None
