"""The processes of one run as the supervisor holds them: made early, ended for certain."""

from __future__ import annotations

import os
import signal
from typing import Optional

from . import gate as gates
from . import tree
from .errors import SandboxError
from .init import Execute, run_init
from .layers import contain_supervisor
from .machine import Machine
from .run import Spare


class RunProcesses:
    """The init and the script's process, which wait for a run; `failure` says why they cannot.

    `gate`, `stdout` and `stderr` are this side's ends; the pipes do not block. `group` is the control
    group, where there is one.
    """

    def __init__(self, machine: Machine, root: str, execute: Execute) -> None:
        """@param root the folder on which the run's root is built
        @param execute what the script's process does in the end"""
        self._machine = machine
        self.failure: Optional[SandboxError] = None
        spare = Spare(root, machine.groups)
        try:
            contain_supervisor(machine, spare)
        except SandboxError as error:
            self.failure = error
        self.group = spare.group
        self.gate, far_gate = gates.open_gate()
        self.stdout, far_stdout = os.pipe()
        self.stderr, far_stderr = os.pipe()
        self.init = 0
        if self.failure is None:
            self.init = os.fork()
            if self.init == 0:
                run_init(machine, spare, far_gate, (far_stdout, far_stderr), execute)
        far_gate.close()
        for far, near in ((far_stdout, self.stdout), (far_stderr, self.stderr)):
            os.close(far)
            os.set_blocking(near, False)

    def signal_group(self, script: int, sent: int) -> None:
        """Sends a signal to the process group of the script, whose number is still its own."""
        try:
            os.killpg(script, sent)
        except (ProcessLookupError, PermissionError):
            pass

    def kill(self) -> None:
        """Kills every process of the run."""
        if self.init == 0:
            return
        if self._machine.has("pid_namespace"):
            # The kernel kills the rest of the namespace with its process 1.
            os.kill(self.init, signal.SIGKILL)
            return
        if self.group is not None:
            self.group.kill()
        if self._machine.has("descendants"):
            tree.kill_descendants(os.getpid())
        else:
            os.kill(self.init, signal.SIGKILL)

    def remove_group(self) -> None:
        """Every process of the run is dead and nothing more is asked of its control group."""
        if self.group is not None:
            self.group.remove()

    def reap(self) -> None:
        """Returns when every process of the run is dead, which `kill` has seen to."""
        while self.init:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                self.init = 0
