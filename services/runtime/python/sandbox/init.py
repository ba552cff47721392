"""The run's init: parent of the script, process 1 of the run's pid namespace where there is one.

It reaps whatever is orphaned, and ends as soon as the script's main process has ended: with it
the kernel ends the whole namespace. It and the script's process are made before it is known which
run they will be; the latter waits for that, contains itself, waits for the word, and executes.
"""

from __future__ import annotations

import os
import signal
import socket
from typing import Callable, Dict, List, Tuple

from . import gate as gates
from . import kernel
from .errors import SandboxError
from .layers import contain_init, contain_script
from .leaving import ends_process
from .machine import Machine
from .run import Run, Spare
from .run_data import unpack_run

_EXEC_FAILED = 127
_OOM_SCORE = b"500"
_RESET_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGCHLD", "SIGXFSZ")


# Executes a program with arguments and variables: `os.execve`, or what takes its place.
Execute = Callable[[bytes, List[bytes], Dict[bytes, bytes]], object]


def run_init(
    machine: Machine,
    spare: Spare,
    gate: socket.socket,
    pipes: Tuple[int, int],
    execute: Execute,
) -> None:
    """The life of the init process; never returns in it.

    @param pipes what the script's standard output and error become
    @raises BecomeScript in the script's process, where `execute` raises it
    """
    with ends_process(0):
        try:
            if kernel.AVAILABLE:
                kernel.die_with_parent(signal.SIGKILL)
                if machine.has("descendants"):
                    kernel.become_subreaper()
            _close_others({gate.fileno(), *pipes})
            _reset_signals()
            contain_init(machine, spare)
            if spare.proc is not None:
                socket.send_fds(gate, [gates.PROC], [spare.proc])
                os.close(spare.proc)
            pid = os.fork()
            if pid == 0:
                _become_script(machine, spare, gate, pipes, execute)
            for pipe in pipes:
                os.close(pipe)
            gates.send_json(gate, gates.ENDED, _wait_for(pid))
        except SandboxError as error:
            gates.send_failure(gate, error)
        except OSError as error:
            gates.send_failure(gate, SandboxError("init", str(error)))


def _wait_for(script: int) -> Dict[str, object]:
    """Reaps orphans until the script's main process has ended; that one is left unreaped, so that
    its number cannot belong to another process while the supervisor may still signal it."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        if ended is None:
            continue
        if ended.si_pid != script:
            os.waitpid(ended.si_pid, 0)
            continue
        own = os.times()
        exited = ended.si_code == os.CLD_EXITED
        return {
            "exit_code": ended.si_status if exited else None,
            "signal": None if exited else ended.si_status,
            "own_cpu_seconds": own.user + own.system,
        }


def _become_script(
    machine: Machine,
    spare: Spare,
    gate: socket.socket,
    pipes: Tuple[int, int],
    execute: Execute,
) -> None:
    """The script's process: told what to run, contained, held, then executed."""
    with ends_process(_EXEC_FAILED):
        try:
            if kernel.AVAILABLE and machine.must_follow:
                kernel.die_with_parent(signal.SIGKILL)
            stdout, stderr = pipes
            os.dup2(stdout, 1)
            _offer_to_oom_killer()
            data = gates.receive_run(gate)
            if data is not None:
                run = unpack_run(data, machine, spare.root)
                contain_script(run)
                _execute(run, gate, stderr, execute)
        except SandboxError as error:
            gates.send_failure(gate, error)
        except OSError as error:
            gates.send_failure(gate, SandboxError("exec", str(error)))


def _execute(run: Run, gate: socket.socket, stderr: int, execute: Execute) -> None:
    program, workspace = run.spec.argv[0], run.workspace
    os.chdir(workspace)
    if not os.access(program, os.X_OK):
        raise OSError(0, f"{os.fsdecode(program)} cannot be executed")
    environment = dict(run.spec.env)
    if not run.machine.has("mount_namespace"):
        # There /tmp is everybody's.
        environment.setdefault(b"TMPDIR", os.fsencode(run.tmp))
    environment.update((name, os.fsencode(workspace)) for name in run.spec.workspace_env)
    gate.send(gates.READY)
    if gate.recv(1) == gates.GO:
        os.dup2(stderr, 2)
        execute(program, run.spec.argv, environment)


def _close_others(keep: "set[int]") -> None:
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd > 2 and fd not in keep:
            try:
                os.close(fd)
            except OSError:
                # The descriptor of the listing itself.
                continue


def _reset_signals() -> None:
    for name in _RESET_SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _offer_to_oom_killer() -> None:
    try:
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    except OSError:
        return
    try:
        os.write(file, _OOM_SCORE)
    except OSError:
        pass
    finally:
        os.close(file)
