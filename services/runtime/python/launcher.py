"""The launcher: a tiny process that keeps a few spare supervisors, one for each coming run.

Started once by the runtime as `python3 -I -S launcher.py SOCKET RUNS [--lenient] [--without=LAYER…]`,
so that no run costs the start of an interpreter or a fork of the runtime's large process. It is
single-threaded and has everything imported that a run needs. SOCKET is the path to listen on, RUNS
the folder in which run folders are made. Standard input is its life line: at its end no more
connections are taken, and the launcher ends after its last supervisor.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gc
import json
import select
import signal
import socket
import struct
from typing import List, NoReturn, Set

from sandbox import kernel, tree
from sandbox.folders import remove_leftover
from sandbox.machine import Machine
from sandbox.probe import explore
from sandbox.spare import Post, serve_one_run

_BACKLOG = 4096
_SPARES = 2
_ROOT = ".root"


class Launcher:
    """Forks and reaps supervisors."""

    def __init__(self, listener: socket.socket, machine: Machine, runs: str) -> None:
        self._runs = runs
        self._spares: Set[int] = set()
        self._supervisors: Set[int] = set()
        self._taken, taken = os.pipe()
        closing, self._open = os.pipe()
        life, self._alive = os.pipe()
        self._wakeup, self._waking = os.pipe()
        for end in (self._taken, self._wakeup, self._waking):
            os.set_blocking(end, False)
        root = os.path.join(runs, _ROOT)
        self._post = Post(listener, closing, life, taken, os.getppid(), machine, runs, root)

    def serve(self) -> None:
        """Returns when the runtime is gone and every supervisor has ended."""
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._waking)
        poller = select.poll()
        for fd in (self._wakeup, self._taken, 0):
            poller.register(fd, select.POLLIN)
        serving = True
        while serving or self._supervisors or self._spares:
            while serving and len(self._spares) < _SPARES:
                self._add_spare()
            ready = {fd for fd, _event in poller.poll()}
            self._promote(_read_all(self._taken))
            if self._wakeup in ready:
                _read_all(self._wakeup)
                self._reap()
            if serving and 0 in ready and not os.read(0, 4096):
                serving = False
                poller.unregister(0)
                self._post.listener.close()
                os.close(self._open)

    def _add_spare(self) -> None:
        pid = os.fork()
        if pid == 0:
            self._become_supervisor()
        self._spares.add(pid)

    def _become_supervisor(self) -> NoReturn:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for fd in (self._open, self._alive, self._taken, self._wakeup, self._waking):
                os.close(fd)
            serve_one_run(self._post)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)

    def _promote(self, numbers: bytes) -> None:
        for (pid,) in struct.iter_unpack("i", numbers):
            if pid in self._spares:
                self._spares.remove(pid)
                self._supervisors.add(pid)

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
            killed = killed or (own and os.WIFSIGNALED(status))
            self._supervisors.discard(pid)
            self._spares.discard(pid)
        if killed:
            # What the supervisor would have killed and removed.
            tree.kill_descendants(os.getpid(), self._supervisors | self._spares)
            remove_leftovers(self._runs)


def remove_leftovers(runs: str) -> None:
    """Removes the run folders that no living supervisor holds."""
    for name in os.listdir(runs):
        if name != _ROOT:
            remove_leftover(runs, name)


def _read_all(fd: int) -> bytes:
    data = b""
    try:
        while True:
            data += os.read(fd, 4096)
    except BlockingIOError:
        return data


def main() -> None:
    """Entry point; prints one line of JSON when it listens."""
    path, runs = sys.argv[1], os.path.abspath(sys.argv[2])
    for name in ("SIGINT", "SIGHUP"):
        # Sent to a terminal's whole group; the runtime decides when the launcher ends.
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    os.umask(0o022)
    if kernel.AVAILABLE:
        kernel.set_dumpable(False)
        kernel.become_subreaper()
    root = os.path.join(runs, _ROOT)
    os.makedirs(root, 0o755, exist_ok=True)
    os.chmod(runs, 0o700)
    remove_leftovers(runs)
    machine = explore(root, _layers_left_out(sys.argv[3:]), "--lenient" in sys.argv[3:])
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    launcher = Launcher(listener, machine, runs)
    gc.collect()
    gc.freeze()
    gc.disable()
    print(json.dumps({"listening": path}), flush=True)
    launcher.serve()
    _remove_socket(path)


def _layers_left_out(flags: List[str]) -> Set[str]:
    start = "--without="
    return {flag[len(start) :] for flag in flags if flag.startswith(start)}


def _remove_socket(path: str) -> None:
    """The runtime may have been killed, so that it cannot."""
    try:
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    except OSError:
        return


if __name__ == "__main__":
    main()
