"""The enclosure for a supervisor's runs: namespaces with an init, and a control group."""

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

# How long killing the processes of an ended script may take. After this time, the whole enclosure is killed, for
# example because a process is in uninterruptible sleep.
_SWEEP_SECONDS = 5.0


class ScriptPipes(NamedTuple):
    """The supervisor's ends of its connections to a script's process. The output pipes do not block."""

    gate: socket.socket
    stdout: int
    stderr: int

    def close(self) -> None:
        """Closes all descriptors."""
        self.gate.close()
        os.close(self.stdout)
        os.close(self.stderr)


class Usage(NamedTuple):
    """The CPU time of all processes of a run, and the peak memory of the largest process."""

    cpu_seconds: float
    max_memory_bytes: int


class Enclosure:
    """The namespaces and the control group in which a supervisor's runs execute.

    `failure` is the reason why the enclosure cannot execute runs. `init` is the init's process ID, `proc` is a
    descriptor of the init's /proc folder, and `group` is the control group, if they exist. `is_fresh` is true until the
    first run. `waited_cpu_seconds` is the CPU time of the init's children in earlier runs.
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
        @param runs the maximum number of runs. More than one requires a PID namespace
        @param inherited sockets that the init must close
        @raises BecomeScript in a script's process
        """
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
                    # Detaches the object. Otherwise, freeing the object later could close a reused descriptor.
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
        """The connection to the init."""
        return self._control

    def fileno(self) -> int:
        """Returns a descriptor that is readable when the init has exited."""
        return self._control.fileno()

    def open_run(self) -> ScriptPipes:
        """Requests a process for the next script.

        @raises OSError if the init has exited
        """
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
        """Sends a signal to the script's process group. The script's process ID cannot have been reused, because the
        init has not reaped the process."""
        try:
            os.killpg(script, sent)
        except (ProcessLookupError, PermissionError):
            pass

    def sweep(self) -> Optional[Usage]:
        """Kills a script's remaining processes after its main process has exited, so that another run can follow.

        @returns None if this fails, or if no run may follow. The caller must then kill the enclosure
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
        """Kills all processes in the enclosure, including the init."""
        if self.init == 0:
            return
        if self._machine.has("pid_namespace"):
            # When process 1 of the namespace is killed, the kernel kills all other processes in it.
            os.kill(self.init, signal.SIGKILL)
            return
        if self.group is not None:
            self.group.kill()
        if self._machine.has("descendants"):
            process_tree.kill_descendants(os.getpid())
        else:
            os.kill(self.init, signal.SIGKILL)

    def reap(self) -> None:
        """Waits until all killed processes have exited."""
        while self.init:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                self.init = 0

    def usage(self, own_cpu_seconds: float) -> Usage:
        """Returns the resource usage of the last run. All its processes must be dead and reaped.

        @param own_cpu_seconds the CPU time of the init, if known
        """
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_seconds = usage.ru_utime + usage.ru_stime - max(own_cpu_seconds, self._past_cpu_seconds)
        # The maximum for all runs of this enclosure.
        memory_bytes = usage.ru_maxrss * 1024 if self.is_fresh else 0
        return Usage(max(0.0, cpu_seconds), memory_bytes)

    def remove_group(self) -> None:
        """Removes the control group. All processes must be dead."""
        if self.group is not None:
            self.group.remove()
