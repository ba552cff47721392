"""What this machine's kernel lets the sandbox do, found out once by trying it (see probe.py)."""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple

_REQUIRED = (("rlimits",), ("no_new_privs",), ("seccomp",), ("mount_namespace", "landlock"))


# In place of the reason why a layer is missing: others do its work.
NOT_NEEDED = ""


class Machine(NamedTuple):
    """`missing` holds, for each layer that is not there, why and what would enable it.

    `lenient`: the operator accepts runs without layers that are required.
    """

    missing: Dict[str, str]
    lenient: bool = False

    def has(self, layer: str) -> bool:
        """Whether the layer is there."""
        return layer not in self.missing

    @property
    def lacking(self) -> List[str]:
        """What is required and missing, with the reason, each in words."""
        return [
            " and ".join(f"{layer} ({self.missing[layer]})" for layer in either)
            for either in _REQUIRED
            if not any(self.has(layer) for layer in either)
        ]

    @property
    def counts_processes_per_run(self) -> bool:
        """RLIMIT_NPROC counts a user's processes within the user namespace, and user 0's never."""
        return self.has("user_namespace") and os.geteuid() != 0
