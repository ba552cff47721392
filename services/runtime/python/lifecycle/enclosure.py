"""The enclosure of a supervisor's runs: the namespaces with their init, and the control group."""

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

# A process in an uninterruptible state may take longer; then the whole enclosure is killed.
_SWEEP_SECONDS = 5.0


class ScriptPipes(NamedTuple):
    """The supervisor's file descriptors for the connections with one script's process. The output pipes do not
    block."""

    gate: socket.socket
    stdout: int
    stderr: int

    def close(self) -> None:
        """Closes all of them."""
        self.gate.close()
        os.close(self.stdout)
        os.close(self.stderr)


class Usage(NamedTuple):
    """CPU time of all processes of a run, and the largest memory of one process."""

    cpu_seconds: float
    max_memory_bytes: int


class Enclosure:
    """`failure` is the reason why it can execute no run.

    `init` is the init's process ID, `proc` a folder descriptor of its /proc, `group` the
    control group, each if there is one. `is_fresh`: it has had no run yet. `waited_cpu_seconds` is the CPU time
    of the processes of earlier runs, according to the init's children.
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
                    # Freeing the object would close a reused descriptor.
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
        """Sends a signal to the process group of the script, whose process ID is not reused yet."""
        try:
            os.killpg(script, sent)
        except (ProcessLookupError, PermissionError):
            pass

    def sweep(self) -> Optional[Usage]:
        """Kills the remaining processes of an ended script, so that another run may follow.
        
        @returns None if this failed, or no run may follow: the enclosure must then be killed
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
        """Kills all its processes, including the init."""
        if self.init == 0:
            return
        if self._machine.has("pid_namespace"):
            # The kernel kills the rest of the namespace with its process 1.
            os.kill(self.init, signal.SIGKILL)
            return
        if self.group is not None:
            self.group.kill()
        if self._machine.has("descendants"):
            process_tree.kill_descendants(os.getpid())
        else:
            os.kill(self.init, signal.SIGKILL)

    def reap(self) -> None:
        """Returns when all killed processes are dead."""
        while self.init:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                self.init = 0

    def usage(self, own_cpu_seconds: float) -> Usage:
        """The usage of the last run, after all processes were killed and reaped.

        @param own_cpu_seconds CPU time of the init, if known
        """
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_seconds = usage.ru_utime + usage.ru_stime - max(own_cpu_seconds, self._past_cpu_seconds)
        # The maximum of all runs.
        memory_bytes = usage.ru_maxrss * 1024 if self.is_fresh else 0
        return Usage(max(0.0, cpu_seconds), memory_bytes)

    def remove_group(self) -> None:
        """Requires that all processes are dead and that the control group is no longer needed."""
        if self.group is not None:
            self.group.remove()
