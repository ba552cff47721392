"""What this machine's kernel lets the sandbox do, found out once by trying it (see probe.py)."""

from __future__ import annotations

import os
from typing import Dict, NamedTuple


class Machine(NamedTuple):
    """`missing` holds, for each layer that is not there, why and what would enable it."""

    missing: Dict[str, str]

    def has(self, layer: str) -> bool:
        """Whether the layer is there."""
        return layer not in self.missing

    @property
    def counts_processes_per_run(self) -> bool:
        """RLIMIT_NPROC counts a user's processes within the user namespace, and user 0's never."""
        return self.has("user_namespace") and os.geteuid() != 0
