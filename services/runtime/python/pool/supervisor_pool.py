"""The pool of spare supervisors for a launcher or a keeper.

The pool is single-threaded. It forks and reaps supervisors. If a supervisor is killed, the pool kills its processes.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import struct
import time
from typing import NamedTuple, Optional, Sequence, Set

from containment.machine import Machine, read_choices
from containment.probe import probe_machine
from containment.reusable_folder import KEPT_PREFIX
from containment.run_folder import remove_leftover
from kernel import process_tree, syscalls
from lifecycle.init import Execute
from lifecycle.start_gate import ends_process

from .pool_size import PoolSize
from .spare_supervisor import SpareOptions, serve_runs

_BACKLOG = 4096
ROOT = ".root"


class PoolOptions(NamedTuple):
    """The settings that differ between a launcher and a keeper."""

    # The path of the socket, and the folder for run folders.
    path: str
    runs: str
    # A descriptor that reaches end of file when the pool must accept no more connections.
    life_line: int
    # The number of spares without a run: the minimum, and the maximum during a burst of runs.
    spares: int
    most_spares: int
    runs_outlive: bool
    # The maximum number of runs for one supervisor.
    runs_each: int
    execute: Execute


def launch(options: PoolOptions, flags: Sequence[str]) -> None:
    """Runs the pool until its last run has finished. Prints one line of JSON when the pool listens.

    @param flags see `read_choices`
    @raises BecomeScript in a script's process
    """
    for name in ("SIGINT", "SIGHUP"):
        # A terminal sends these signals to its whole process group. The runtime decides when the launcher exits.
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    os.umask(0o022)
    if syscalls.AVAILABLE:
        syscalls.set_dumpable(False)
        syscalls.become_subreaper()
    choices = read_choices(flags)
    if syscalls.AVAILABLE and os.geteuid() == 0 and "capabilities" not in choices.without:
        syscalls.keep_capabilities(syscalls.CAPS_OF_LAUNCHER)
    root = os.path.join(options.runs, ROOT)
    os.makedirs(root, 0o755, exist_ok=True)
    # Script users must be able to reach the folders of their runs.
    os.chmod(options.runs, 0o711)
    machine = probe_machine(root, choices)
    remove_leftovers(options.runs, machine)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(options.path)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    pool = SupervisorPool(listener, machine, options)
    gc.collect()
    gc.freeze()
    gc.disable()
    os.write(1, json.dumps({"listening": options.path}).encode() + b"\n")
    pool.serve()
    remove_leftovers(options.runs, machine)
    _remove_socket(options.path)


def _remove_socket(path: str) -> None:
    """Removes a run's socket. The runtime usually does this, but may have been killed."""
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    except OSError:
        return


class SupervisorPool:
    """Forks and reaps supervisors."""

    def __init__(self, listener: socket.socket, machine: Machine, options: PoolOptions) -> None:
        self._options = options
        self._spares: Set[int] = set()
        self._supervisors: Set[int] = set()
        self._pool_size = PoolSize(options.spares, options.most_spares)
        self._dismissed = 0
        self._taken, taken = os.pipe()
        closing, self._open = os.pipe()
        dismissing, self._dismissing = os.pipe()
        life, self._alive = os.pipe()
        self._wakeup, self._waking = os.pipe()
        for end in (self._taken, self._wakeup, self._waking, dismissing):
            os.set_blocking(end, False)
        self._spare_options = SpareOptions(
            listener=listener,
            closing=closing,
            dismissing=dismissing,
            life=life,
            outlives=options.runs_outlive,
            taken=taken,
            runtime=os.getppid(),
            machine=machine,
            runs=options.runs,
            root=os.path.join(options.runs, ROOT),
            execute=options.execute,
            runs_each=options.runs_each,
        )

    def serve(self) -> None:
        """Manages the supervisors until the runtime and all supervisors have exited.

        @raises BecomeScript in a script's process
        """
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._waking)
        poller = select.poll()
        for fd in (self._wakeup, self._taken, self._options.life_line):
            poller.register(fd, select.POLLIN)
        listener = self._spare_options.listener.fileno()
        ready: Set[int] = set()
        serving = True
        while serving or self._supervisors or self._spares:
            if serving:
                if listener in ready or self._pool_size.is_due(time.monotonic()):
                    self._keep_spares()
                # Spares accept connections themselves. If there is no spare, a connection makes the pool start one.
                poller.register(listener, 0 if self._spares else select.POLLIN)
            ready = {fd for fd, _event in poller.poll(self._wait_ms())}
            self._promote(_read_all(self._taken))
            self._pool_size.shrink(time.monotonic())
            if self._wakeup in ready:
                _read_all(self._wakeup)
                self._reap()
            if (
                serving
                and self._options.life_line in ready
                and not os.read(self._options.life_line, 4096)
            ):
                serving = False
                poller.unregister(self._options.life_line)
                poller.unregister(listener)
                self._spare_options.listener.close()
                os.close(self._open)

    def _wait_ms(self) -> Optional[float]:
        return self._pool_size.wait_ms(time.monotonic(), len(self._spares))

    def _keep_spares(self) -> None:
        while len(self._spares) < self._pool_size.wanted:
            self._add_spare()
        surplus = len(self._spares) - self._pool_size.wanted - self._dismissed
        if surplus > 0 and self._pool_size.is_quiet(time.monotonic()):
            # Each byte makes one spare exit.
            os.write(self._dismissing, bytes(surplus))
            self._dismissed += surplus

    def _add_spare(self) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_supervisor()
        self._spares.add(pid)

    def _become_supervisor(self) -> None:
        with ends_process(1) as end:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for fd in (
                self._open,
                self._alive,
                self._taken,
                self._wakeup,
                self._waking,
                self._dismissing,
            ):
                os.close(fd)
            serve_runs(self._spare_options)
            end.status = 0

    def _promote(self, numbers: bytes) -> None:
        for (pid,) in struct.iter_unpack("i", numbers):
            if pid in self._spares:
                self._spares.remove(pid)
                self._supervisors.add(pid)
                self._pool_size.taken(time.monotonic())
            elif -pid in self._supervisors:
                self._supervisors.remove(-pid)
                self._spares.add(-pid)

    def _reap(self) -> None:
        killed = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            own = pid in self._supervisors or pid in self._spares
            if pid in self._spares and self._dismissed > 0:
                self._dismissed -= 1
            killed = killed or (own and os.WIFSIGNALED(status))
            self._supervisors.discard(pid)
            self._spares.discard(pid)
        if killed:
            # The supervisor was killed before it could kill its processes and remove its folder.
            process_tree.kill_descendants(os.getpid(), self._supervisors | self._spares)
            remove_leftovers(self._options.runs, self._spare_options.machine)


def remove_leftovers(runs: str, machine: Machine) -> None:
    """Removes run folders and control groups without a live supervisor, and kills their processes."""
    if machine.groups is not None:
        machine.groups.tidy()
    # Without a PID namespace, processes may outlive their supervisor.
    prepare = process_tree.kill_users if machine.must_follow else lambda _path: None
    for name in os.listdir(runs):
        if not name.startswith(".") or name.startswith(KEPT_PREFIX):
            remove_leftover(runs, name, prepare)


def _read_all(fd: int) -> bytes:
    data = b""
    try:
        while True:
            data += os.read(fd, 4096)
    except BlockingIOError:
        return data
