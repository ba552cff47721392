"""What this machine's kernel lets the sandbox do, found out once by trying it (see probe.py)."""

from __future__ import annotations

import os
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Sequence

from .cgroups import Groups

_REQUIRED = (("rlimits",), ("no_new_privs",), ("seccomp",), ("mount_namespace", "landlock"))


# In place of the reason why a layer is missing: others do its work.
NOT_NEEDED = ""


class Choices(NamedTuple):
    """What the operator decides: see `read_choices`."""

    without: FrozenSet[str] = frozenset()
    lenient: bool = False


def read_choices(flags: Sequence[str]) -> Choices:
    """From the command line.

    `--without=LAYER`, as often as wanted, leaves one out; `--lenient` accepts runs where a layer is
    missing that is required.
    """
    named = [flag.partition("=") for flag in flags]
    return Choices(
        without=frozenset(value for name, _, value in named if name == "--without"),
        lenient="--lenient" in flags,
    )


class Machine(NamedTuple):
    """`missing` holds, for each layer that is not there, why and what would enable it.

    `groups`: where the control groups of runs are made, if anywhere.
    """

    missing: Dict[str, str]
    choices: Choices = Choices()
    groups: Optional[Groups] = None

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
    def must_follow(self) -> bool:
        """Whether the script's process dies with its init because it asks for it: no namespace of
        processes ends with that."""
        return self.has("descendants") and not self.has("pid_namespace")

    @property
    def counts_processes_per_run(self) -> bool:
        """RLIMIT_NPROC counts a user's processes within the user namespace, and user 0's never."""
        return self.has("user_namespace") and os.geteuid() != 0
