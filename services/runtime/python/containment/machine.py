"""The layers that this machine supports, as probe.py finds them, and what the operator requires."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Sequence

from kernel.cgroups import Groups

_REQUIRED = (("rlimits",), ("no_new_privs",), ("seccomp",), ("mount_namespace", "landlock"))


# The reason of a missing layer that is not needed, because other layers do its work.
NOT_NEEDED = ""


class Choices(NamedTuple):
    """The settings of the operator, from the command line (see `read_choices`)."""

    without: FrozenSet[str] = frozenset()
    lenient: bool = False


def read_choices(flags: Sequence[str]) -> Choices:
    """Reads the command line.

    `--without=LAYER` switches a layer off and may be repeated. `--lenient` accepts runs although a required layer is
    missing.
    """
    named = [flag.partition("=") for flag in flags]
    return Choices(
        without=frozenset(value for name, _, value in named if name == "--without"),
        lenient="--lenient" in flags,
    )


class Machine(NamedTuple):
    """`missing` contains the missing layers. The value of each is the reason, and how to enable the layer.

    `groups` is the parent of the runs' control groups, if there is one.
    """

    missing: Dict[str, str]
    choices: Choices = Choices()
    groups: Optional[Groups] = None

    def has(self, layer: str) -> bool:
        """Whether the machine has the layer."""
        return layer not in self.missing

    @property
    def lacking(self) -> List[str]:
        """The required layers that are missing, each with its reason."""
        return [
            " and ".join(f"{layer} ({self.missing[layer]})" for layer in either)
            for either in _REQUIRED
            if not any(self.has(layer) for layer in either)
        ]

    @property
    def refusal(self) -> Optional[str]:
        """Why this machine must not execute any run, and what to do."""
        if self.has("script_user") or "script_user" in self.choices.without or not _is_root_of_host():
            return None
        return (
            "scripts would run as root on this machine, which ORCH_SANDBOX_LENIENT does not allow: "
            f"script_user is missing ({self.missing['script_user']}). Start the service as an "
            "unprivileged user, or enable mount namespaces, or move the interpreter (ORCH_PYTHON) and the "
            "data folder (ORCH_DATA_DIR) to paths that all users can access"
        )

    @property
    def must_follow(self) -> bool:
        """Whether the script's process must die with its init on request, because there is no process namespace that
        ends with the init."""
        return self.has("descendants") and not self.has("pid_namespace")

    @property
    def counts_processes_per_run(self) -> bool:
        """Whether RLIMIT_NPROC limits each run separately. It counts a user's processes within the
        user namespace, and never the processes of user 0."""
        return self.has("user_namespace") and os.geteuid() != 0


@lru_cache(maxsize=None)
def _is_root_of_host() -> bool:
    """Whether user 0 of this process is user 0 of the host. This is not so in a container that maps users."""
    if os.geteuid() != 0:
        return False
    with open("/proc/self/uid_map", encoding="ascii") as file:
        inside, outside, _count = file.readline().split()
    return inside == outside == "0"
