"""Keeps a few spare supervisors, one for each coming run: the work of a launcher and of a keeper.

Single-threaded. Forks them, reaps them, and sees that nothing outlives one that was killed.
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

from . import kernel, tree
from .demand import Demand
from .folders import remove_leftover
from .init import Execute
from .kept_folder import KEPT_PREFIX
from .leaving import ends_process
from .machine import Machine, read_choices
from .probe import explore
from .spare import Post, serve_runs

_BACKLOG = 4096
ROOT = ".root"


class Kind(NamedTuple):
    """What distinguishes a launcher from a keeper."""

    # The path to listen on, and the folder in which run folders are made.
    path: str
    runs: str
    # At its end no more connections are taken.
    life_line: int
    # While no runs come, and at most.
    spares: int
    most_spares: int
    runs_outlive: bool
    # How many runs one supervisor may have.
    runs_each: int
    execute: Execute


def launch(kind: Kind, flags: Sequence[str]) -> None:
    """Says in one line of JSON that it listens, and returns when it is no longer needed.

    @param flags see `read_choices`
    @raises BecomeScript in the process of a script
    """
    for name in ("SIGINT", "SIGHUP"):
        # Sent to a terminal's whole group; the runtime decides when the launcher ends.
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    os.umask(0o022)
    if kernel.AVAILABLE:
        kernel.set_dumpable(False)
        kernel.become_subreaper()
    choices = read_choices(flags)
    if kernel.AVAILABLE and os.geteuid() == 0 and "capabilities" not in choices.without:
        kernel.keep_capabilities(kernel.CAPS_OF_LAUNCHER)
    root = os.path.join(kind.runs, ROOT)
    os.makedirs(root, 0o755, exist_ok=True)
    # Users of scripts pass through to their own runs, where there are such.
    os.chmod(kind.runs, 0o711)
    machine = explore(root, choices)
    remove_leftovers(kind.runs, machine)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(kind.path)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    launcher = Launcher(listener, machine, kind)
    gc.collect()
    gc.freeze()
    gc.disable()
    os.write(1, json.dumps({"listening": kind.path}).encode() + b"\n")
    launcher.serve()
    remove_leftovers(kind.runs, machine)
    _remove_socket(kind.path)


def _remove_socket(path: str) -> None:
    """The runtime may have been killed, so that it cannot."""
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    except OSError:
        return


class Launcher:
    """Forks and reaps supervisors."""

    def __init__(self, listener: socket.socket, machine: Machine, kind: Kind) -> None:
        self._kind = kind
        self._spares: Set[int] = set()
        self._supervisors: Set[int] = set()
        self._demand = Demand(kind.spares, kind.most_spares)
        self._dismissed = 0
        self._taken, taken = os.pipe()
        closing, self._open = os.pipe()
        dismissing, self._dismissing = os.pipe()
        life, self._alive = os.pipe()
        self._wakeup, self._waking = os.pipe()
        for end in (self._taken, self._wakeup, self._waking, dismissing):
            os.set_blocking(end, False)
        self._post = Post(
            listener=listener,
            closing=closing,
            dismissing=dismissing,
            life=life,
            outlives=kind.runs_outlive,
            taken=taken,
            runtime=os.getppid(),
            machine=machine,
            runs=kind.runs,
            root=os.path.join(kind.runs, ROOT),
            execute=kind.execute,
            runs_each=kind.runs_each,
        )

    def serve(self) -> None:
        """Returns when the runtime is gone and every supervisor has ended.

        @raises BecomeScript in the process of a script
        """
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._waking)
        poller = select.poll()
        for fd in (self._wakeup, self._taken, self._kind.life_line):
            poller.register(fd, select.POLLIN)
        listener = self._post.listener.fileno()
        ready: Set[int] = set()
        serving = True
        while serving or self._supervisors or self._spares:
            if serving:
                if listener in ready or self._demand.is_due(time.monotonic()):
                    self._keep_spares()
                # Who comes while there is none is not to wait; else the spares hear them.
                poller.register(listener, 0 if self._spares else select.POLLIN)
            ready = {fd for fd, _event in poller.poll(self._wait_ms())}
            self._promote(_read_all(self._taken))
            self._demand.look(time.monotonic())
            if self._wakeup in ready:
                _read_all(self._wakeup)
                self._reap()
            if serving and self._kind.life_line in ready and not os.read(self._kind.life_line, 4096):
                serving = False
                poller.unregister(self._kind.life_line)
                poller.unregister(listener)
                self._post.listener.close()
                os.close(self._open)

    def _wait_ms(self) -> Optional[float]:
        return self._demand.wait_ms(time.monotonic(), len(self._spares))

    def _keep_spares(self) -> None:
        while len(self._spares) < self._demand.wanted:
            self._add_spare()
        surplus = len(self._spares) - self._demand.wanted - self._dismissed
        if surplus > 0 and self._demand.is_quiet(time.monotonic()):
            # Whichever read it.
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
            serve_runs(self._post)
            end.status = 0

    def _promote(self, numbers: bytes) -> None:
        for (pid,) in struct.iter_unpack("i", numbers):
            if pid in self._spares:
                self._spares.remove(pid)
                self._supervisors.add(pid)
                self._demand.taken(time.monotonic())
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
            # What the supervisor would have killed and removed.
            tree.kill_descendants(os.getpid(), self._supervisors | self._spares)
            remove_leftovers(self._kind.runs, self._post.machine)


def remove_leftovers(runs: str, machine: Machine) -> None:
    """Removes the run folders and control groups that no living supervisor holds, with the
    processes that are left of them."""
    if machine.groups is not None:
        machine.groups.tidy()
    # Without a namespace that ends with them, processes may have outlived all that watched them.
    prepare = tree.kill_users if machine.must_follow else lambda _path: None
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
