"""What the script's process is told of its run, as bytes."""

from __future__ import annotations

import marshal
from typing import Optional

from .folders import RunFolder
from .machine import Machine
from .run import Run
from .spec import RunSpec, pack_spec, unpack_spec


def pack_run(spec: RunSpec, folder: RunFolder, user: Optional[int]) -> bytes:
    """For a process of this same interpreter."""
    return marshal.dumps((pack_spec(spec), folder.files, folder.tmp, user))


def unpack_run(data: bytes, machine: Machine, root: str) -> Run:
    """The opposite of `pack_run`."""
    spec, files, tmp, user = marshal.loads(data)
    return Run(unpack_spec(spec), machine, root, files, tmp, user, [])
