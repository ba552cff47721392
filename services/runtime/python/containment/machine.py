"""The layers that this machine supports, as found by probe.py, and the layers that the operator requires."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Sequence

from kernel.cgroups import Groups

_REQUIRED = (("rlimits",), ("no_new_privs",), ("seccomp",), ("mount_namespace", "landlock"))


# The reason for a missing layer that other layers replace.
NOT_NEEDED = ""


class Choices(NamedTuple):
    """The operator's settings from the command line (see `read_choices`)."""

    without: FrozenSet[str] = frozenset()
    lenient: bool = False


def read_choices(flags: Sequence[str]) -> Choices:
    """Reads the command line. `--without=LAYER` disables a layer and may be repeated. `--lenient` accepts runs even if
    a required layer is missing."""
    named = [flag.partition("=") for flag in flags]
    return Choices(
        without=frozenset(value for name, _, value in named if name == "--without"),
        lenient="--lenient" in flags,
    )


class Machine(NamedTuple):
    """The layers that are missing on this machine.

    `missing` maps each missing layer to a text with the reason and how to enable the layer. `groups` is the parent of
    the runs' control groups, if control groups are available.
    """

    missing: Dict[str, str]
    choices: Choices = Choices()
    groups: Optional[Groups] = None

    def has(self, layer: str) -> bool:
        """Whether the machine has the layer."""
        return layer not in self.missing

    @property
    def lacking(self) -> List[str]:
        """The missing required layers, each with its reason."""
        return [
            " and ".join(f"{layer} ({self.missing[layer]})" for layer in either)
            for either in _REQUIRED
            if not any(self.has(layer) for layer in either)
        ]

    @property
    def refusal(self) -> Optional[str]:
        """Why this machine must not execute runs, with instructions for the operator. None if runs are permitted."""
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
        """Whether the script's process must be set to die with its init. Required if there is no PID namespace that
        would kill the process together with its init."""
        return self.has("descendants") and not self.has("pid_namespace")

    @property
    def counts_processes_per_run(self) -> bool:
        """Whether RLIMIT_NPROC limits each run separately. This limit counts a user's processes in the user namespace,
        except root's processes."""
        return self.has("user_namespace") and os.geteuid() != 0


@lru_cache(maxsize=None)
def _is_root_of_host() -> bool:
    """Whether root in this process is root on the host. This is false in a container that maps users."""
    if os.geteuid() != 0:
        return False
    with open("/proc/self/uid_map", encoding="ascii") as file:
        inside, outside, _count = file.readline().split()
    return inside == outside == "0"
