"""The enclosure in which a supervisor's runs execute: namespaces with an init, and a control group."""

from __future__ import annotations

import os
import resource
import signal
import socket
from typing import NamedTuple, Optional, Sequence

from containment.layers import contain_supervisor
from containment.machine import Machine
from containment.run_context import Spare
from kernel import process_tree
from wire import process_messages as messages
from wire.frames import SandboxError

from .init import Execute, run_init

# How long killing an ended script's processes may take. If a process is in an uninterruptible state, the whole
# enclosure is killed after this time.
_SWEEP_SECONDS = 5.0


class ScriptPipes(NamedTuple):
    """The supervisor's ends of the connections with a script's process. The output pipes do not block."""

    gate: socket.socket
    stdout: int
    stderr: int

    def close(self) -> None:
        """Closes all descriptors."""
        self.gate.close()
        os.close(self.stdout)
        os.close(self.stderr)


class Usage(NamedTuple):
    """CPU time of all processes of a run, and the largest memory of one process."""

    cpu_seconds: float
    max_memory_bytes: int


class Enclosure:
    """`failure` is the reason why the enclosure cannot execute runs.

    `init` is the process ID of the init, `proc` a folder descriptor of its /proc, and `group` the control group, if
    they exist. `is_fresh` is true until the first run. `waited_cpu_seconds` is the CPU time of the init's children in
    earlier runs.
    """

    def __init__(
        self,
        machine: Machine,
        root: str,
        execute: Execute,
        runs: int,
        inherited: Sequence[socket.socket],
    ) -> None:
        """@param root the folder for the runs' roots
        @param execute the final step of a script's process
        @param runs the maximum number of runs; more than one requires a pid namespace
        @param inherited sockets that the init must close
        @raises BecomeScript in the process of a script"""
        self._machine = machine
        self._runs_left = runs
        self._spare = Spare(root, machine.groups)
        self.failure: Optional[SandboxError] = None
        self.init = 0
        self.proc: Optional[int] = None
        self._control, far = messages.open_gate()
        self._past_cpu_seconds = 0.0
        self.waited_cpu_seconds = 0.0
        self.is_fresh = True
        try:
            contain_supervisor(machine, self._spare)
        except SandboxError as error:
            self.failure = error
        self.group = self._spare.group
        if self.failure is None:
            self.init = os.fork()
            if self.init == 0:
                for each in (self._control, *inherited):
                    # Detaches the object. Freeing it later would close another file that has got the same descriptor.
                    each.detach()
                run_init(machine, self._spare, far, execute)
        far.close()
        if self.init:
            self._hear_of_init()

    def _hear_of_init(self) -> None:
        message = messages.receive(self._control)
        if message.kind == messages.FAILED:
            self.failure = messages.failure_of(message)
        elif message.kind != messages.READY:
            self.failure = SandboxError("init", "killed before it received a run")
        self.proc = message.descriptor

    @property
    def control(self) -> socket.socket:
        """The connection with the init."""
        return self._control

    def fileno(self) -> int:
        """Readable when the init has ended."""
        return self._control.fileno()

    def open_run(self) -> ScriptPipes:
        """Requests the process of the next script.
        
        @raises OSError when the init has ended"""
        gate, far_gate = messages.open_gate()
        stdout, far_stdout = os.pipe()
        stderr, far_stderr = os.pipe()
        far = [far_gate.fileno(), far_stdout, far_stderr]
        if self._spare.view is not None:
            far.append(self._spare.view)
        socket.send_fds(self._control, [messages.ORDER], far)
        far_gate.close()
        for end, near in ((far_stdout, stdout), (far_stderr, stderr)):
            os.close(end)
            os.set_blocking(near, False)
        return ScriptPipes(gate, stdout, stderr)

    def signal_group(self, script: int, sent: int) -> None:
        """Sends a signal to the script's process group. The process ID of the script cannot have been reused, because
        the init has not reaped it."""
        try:
            os.killpg(script, sent)
        except (ProcessLookupError, PermissionError):
            pass

    def sweep(self) -> Optional[Usage]:
        """Kills the remaining processes of a script that has ended, so that another run may follow.

        @returns None if this failed, or if no run may follow. The enclosure must then be killed.
        """
        self._runs_left -= 1
        if self._runs_left <= 0:
            return None
        try:
            self._control.settimeout(_SWEEP_SECONDS)
            self._control.send(messages.SWEEP)
            message = messages.receive(self._control)
        except OSError:
            return None
        finally:
            self._control.settimeout(None)
        if message.kind != messages.SWEPT:
            return None
        report = messages.content_of(message)
        self._past_cpu_seconds = float(str(report["past_cpu_seconds"]))
        self.waited_cpu_seconds = float(str(report["waited_cpu_seconds"]))
        self.is_fresh = False
        return Usage(float(str(report["cpu_seconds"])), int(str(report["max_memory_bytes"])))

    def kill(self) -> None:
        """Kills all processes of the enclosure, including the init."""
        if self.init == 0:
            return
        if self._machine.has("pid_namespace"):
            # When process 1 of the namespace is killed, the kernel kills all others.
            os.kill(self.init, signal.SIGKILL)
            return
        if self.group is not None:
            self.group.kill()
        if self._machine.has("descendants"):
            process_tree.kill_descendants(os.getpid())
        else:
            os.kill(self.init, signal.SIGKILL)

    def reap(self) -> None:
        """Waits until all killed processes are dead."""
        while self.init:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                self.init = 0

    def usage(self, own_cpu_seconds: float) -> Usage:
        """The usage of the last run. All processes must have been killed and reaped.

        @param own_cpu_seconds CPU time of the init, if known
        """
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_seconds = usage.ru_utime + usage.ru_stime - max(own_cpu_seconds, self._past_cpu_seconds)
        # The maximum of all runs.
        memory_bytes = usage.ru_maxrss * 1024 if self.is_fresh else 0
        return Usage(max(0.0, cpu_seconds), memory_bytes)

    def remove_group(self) -> None:
        """Removes the control group. All processes must be dead, and the group is no longer needed."""
        if self.group is not None:
            self.group.remove()
