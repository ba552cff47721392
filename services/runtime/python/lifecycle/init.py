"""The init: the parent of script processes, and process 1 of their PID namespace if one exists.

The init reaps orphans. When the init exits, the kernel kills the whole namespace. A script's process is forked before
its run is known. This process receives the run, contains itself, waits at the start gate, and executes the script. The
init itself never receives a run, so a run cannot find another run's data in the init's memory.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
from typing import AbstractSet, Callable, Dict, List, Optional, Tuple

from containment.layers import contain_init, contain_script, contain_spare
from containment.machine import Machine
from containment.run_context import Run, Spare, unpack_run
from kernel import syscalls
from wire import process_messages as messages
from wire.frames import SandboxError

from .start_gate import StartGate, ends_process

_EXEC_FAILED = 127
_OOM_SCORE = b"500"
# The name of the variable with the descriptor on which a resident process receives its runs.
RESIDENT_ORDERS = b"ORCH_RESIDENT"
_FIRST_INHERITED = 10
# Signals from the supervisor to stop and continue every other process in the namespace.
PAUSE, RESUME = signal.SIGUSR1, signal.SIGUSR2
_AWAITED = (signal.SIGCHLD, PAUSE, RESUME)
_RESET_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGCHLD", "SIGXFSZ")


# A function such as `execute_program`. Executes a program with these arguments and variables when the gate opens.
Execute = Callable[[bytes, List[bytes], Dict[bytes, bytes], StartGate], object]


def run_init(machine: Machine, spare: Spare, control: socket.socket, execute: Execute) -> None:
    """The main function of the init. It never returns in the init.

    @raises BecomeScript in a script's process, if `execute` raises it there
    """
    with ends_process(0):
        try:
            if syscalls.AVAILABLE:
                syscalls.die_with_parent(signal.SIGKILL)
                if machine.has("descendants"):
                    syscalls.become_subreaper()
            last_pid = _open("/proc/sys/kernel/ns_last_pid") if machine.has("pid_namespace") else None
            _close_others({control.fileno(), last_pid})
            _reset_signals()
            contain_init(machine, spare)
            messages.send_ready(control, [] if spare.proc is None else [spare.proc])
            _Init(machine, spare, control, last_pid, execute).serve()
        except SandboxError as error:
            messages.send_failure(control, error)
        except OSError as error:
            messages.send_failure(control, SandboxError("init", str(error)))


class _Init:
    def __init__(
        self,
        machine: Machine,
        spare: Spare,
        control: socket.socket,
        last_pid: Optional[int],
        execute: Execute,
    ) -> None:
        """@param last_pid a file in which the kernel keeps the last process ID that it has assigned"""
        self._last_pid = last_pid
        self._machine = machine
        self._spare = spare
        self._control = control
        self._execute = execute
        self._cpu_seconds = 0.0
        self._max_memory_bytes = 0
        self._past_cpu_seconds = 0.0

    def serve(self) -> None:
        """Handles requests until the supervisor exits."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
        while True:
            kind, descriptors = messages.receive_order(self._control)
            if kind != messages.ORDER:
                return
            gate, stdout, stderr = socket.socket(fileno=descriptors[0]), *descriptors[1:3]
            self._number_from_the_start()
            script = os.fork()
            if script == 0:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
                self._control.close()
                _close(self._last_pid)
                self._spare.view = descriptors[3] if len(descriptors) > 3 else None
                self._become_script(gate, (stdout, stderr))
            for end in descriptors[1:]:
                os.close(end)
            messages.send_json(gate, messages.ENDED, self._wait_for(script))
            gate.close()
            kind, _none = messages.receive_order(self._control)
            if kind != messages.SWEEP:
                return
            self._sweep()

    def _number_from_the_start(self) -> None:
        """Gives each script the same process ID, if the kernel permits this."""
        if self._last_pid is not None:
            try:
                os.pwrite(self._last_pid, b"1", 0)
            except OSError:
                _close(self._last_pid)
                self._last_pid = None

    def _wait_for_signal(self) -> None:
        """Waits for the next signal. Signals stay blocked between calls, so none is lost."""
        number = signal.sigwait(_AWAITED)
        if os.getpid() != 1:
            return
        if number == PAUSE:
            # A single call signals all processes, so that no process can fork in the meantime.
            _signal_others(signal.SIGSTOP)
            messages.send_json(self._control, messages.PAUSED, {})
        elif number == RESUME:
            _signal_others(signal.SIGCONT)

    def _wait_for(self, script: int) -> Dict[str, object]:
        """Reaps orphans until the script's main process has exited. Does not reap the main process, because its ID must
        not be reused while the supervisor may still send signals to it."""
        self._cpu_seconds, self._max_memory_bytes = 0.0, 0
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is None:
                self._wait_for_signal()
                continue
            if ended.si_pid != script:
                self._reap(ended.si_pid)
                continue
            exited = ended.si_code == os.CLD_EXITED
            return {
                "exit_code": ended.si_status if exited else None,
                "signal": None if exited else ended.si_status,
                "own_cpu_seconds": _own_cpu_seconds() + self._past_cpu_seconds,
            }

    def _reap(self, pid: int) -> None:
        _pid, _status, usage = os.wait4(pid, 0)
        self._cpu_seconds += usage.ru_utime + usage.ru_stime
        self._max_memory_bytes = max(self._max_memory_bytes, usage.ru_maxrss * 1024)

    def _sweep(self) -> None:
        if os.getpid() == 1:
            _signal_others(signal.SIGKILL)
        try:
            while True:
                self._reap(-1)
        except ChildProcessError:
            pass
        self._past_cpu_seconds += self._cpu_seconds
        report = {
            "cpu_seconds": self._cpu_seconds,
            "max_memory_bytes": self._max_memory_bytes,
            "past_cpu_seconds": _own_cpu_seconds() + self._past_cpu_seconds,
            "waited_cpu_seconds": self._past_cpu_seconds,
        }
        messages.send_json(self._control, messages.SWEPT, report)

    def _become_script(self, gate: socket.socket, pipes: Tuple[int, int]) -> None:
        """The main function of the script's process: receives its run, contains itself, waits at the gate, and executes
        the script."""
        machine, spare = self._machine, self._spare
        with ends_process(_EXEC_FAILED):
            try:
                if syscalls.AVAILABLE and machine.must_follow:
                    syscalls.die_with_parent(signal.SIGKILL)
                contain_spare(machine, spare)
                _close(spare.view)
                stdout, stderr = pipes
                os.dup2(stdout, 1)
                _offer_to_oom_killer()
                received = messages.receive_run(gate)
                if received is not None:
                    data, descriptors = received
                    run = unpack_run(data, machine, spare.root)
                    contain_script(run)
                    _execute(run, gate, stderr, self._execute, descriptors)
            except SandboxError as error:
                messages.send_failure(gate, error)
            except OSError as error:
                messages.send_failure(gate, SandboxError("exec", str(error)))


def _signal_others(number: int) -> None:
    """Sends a signal to all processes of this namespace except this one."""
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass


def _execute(
    run: Run, gate: socket.socket, stderr: int, execute: Execute, descriptors: List[int]
) -> None:
    program, workspace = run.spec.argv[0], run.workspace
    os.chdir(workspace)
    if not os.access(program, os.X_OK):
        raise SandboxError(
            "exec",
            f"{os.fsdecode(program)} is missing or cannot be executed. A package of the script may have replaced "
            "it. Remove the package that contains this file.",
        )
    environment = dict(run.spec.env)
    if not run.machine.has("mount_namespace"):
        # Without a separate root, all users share /tmp.
        environment.setdefault(b"TMPDIR", os.fsencode(run.tmp))
    environment.update((name, os.fsencode(workspace)) for name in run.spec.workspace_env)
    if descriptors:
        environment[RESIDENT_ORDERS] = str(_inherited(descriptors[0])).encode()
    if run.spec.merge_stderr:
        # Both streams use one pipe, which preserves the order of the output.
        os.dup2(1, stderr)
    messages.send_ready(gate, run.for_supervisor)
    execute(program, run.spec.argv, environment, StartGate(gate, stderr, _EXEC_FAILED))


def execute_program(
    program: bytes, argv: List[bytes], environment: Dict[bytes, bytes], gate: StartGate
) -> None:
    """Executes a run's program when the gate opens."""
    gate.wait()
    os.execve(program, argv, environment)


def _inherited(descriptor: int) -> int:
    """Moves a descriptor to a number above the standard descriptors. The program inherits the descriptor."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_INHERITED)
    os.close(descriptor)
    return moved


def _own_cpu_seconds() -> float:
    own = os.times()
    return own.user + own.system


def _open(path: str) -> Optional[int]:
    try:
        return os.open(path, os.O_WRONLY)
    except OSError:
        return None


def _close_others(keep: AbstractSet[Optional[int]]) -> None:
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd > 2 and fd not in keep:
            try:
                os.close(fd)
            except OSError:
                # Skips the descriptor that is used to list this folder.
                continue


def _close(fd: Optional[int]) -> None:
    if fd is not None:
        os.close(fd)


def _reset_signals() -> None:
    for name in _RESET_SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _offer_to_oom_killer() -> None:
    file = _open("/proc/self/oom_score_adj")
    if file is None:
        return
    try:
        os.write(file, _OOM_SCORE)
    except OSError:
        pass
    finally:
        os.close(file)
