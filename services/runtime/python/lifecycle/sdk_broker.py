"""Connects the processes of one run to the platform, and rejects all other processes.

The name of a Unix socket is not secret: /proc/net/unix lists it, and processes of the same user can connect. Therefore,
the supervisor listens on behalf of its run. It passes a platform connection to each process that it has identified as
part of the run, and closes all other connections.

A process ID alone does not identify a process, because the ID may be reused after the process has connected. Therefore,
the caller returns a challenge, to which the kernel adds the sender's ID. The supervisor holds the process's folder in
/proc open, and checks that it is still readable at the end. This proves that the ID belonged to the same process
throughout.
"""

from __future__ import annotations

import json
import os
import select
import socket
import struct
from errno import EADDRINUSE
from typing import Dict, NamedTuple, Optional, Tuple

from kernel import process_tree
from wire.run_spec import SdkEntry

_CREDENTIALS = struct.Struct("iII")
_CHALLENGE_BYTES = 16
_BACKLOG = 128
# The maximum number of callers with a pending challenge. When the limit is exceeded, the oldest caller is disconnected.
_MOST_WAITING = 64
_MOST_AT_ONCE = 16
_OUTDATED = (
    "This version of the orchestrator package is too old for the platform. Remove it from the script's "
    "requirements to use the platform's version."
)


class _Caller(NamedTuple):
    connection: socket.socket
    challenge: bytes
    pid: int
    # A descriptor of the process's folder in /proc.
    folder: int
    # The IDs of the process and its ancestors up to the run's init.
    lineage: Tuple[int, ...]

    def close(self) -> None:
        self.connection.close()
        os.close(self.folder)


class SdkBroker:
    """Accepts connections at the run's own path. Call `serve` when `fileno` is readable. `serve` never waits."""

    def __init__(self, entry: SdkEntry, init: Optional[int]) -> None:
        """@param init the init's process ID in this process's namespace. If None, all callers belong to the run
        @raises OSError if this process cannot listen at the path
        """
        self._entry = entry
        self._init = init
        self._callers: Dict[int, _Caller] = {}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _bind(self._listener, entry.path)
            self._listener.listen(_BACKLOG)
            self._listener.setblocking(False)
            self._poller = select.epoll()
        except OSError:
            self._listener.close()
            raise
        self._poller.register(self._listener, select.EPOLLIN)

    def fileno(self) -> int:
        """Returns a descriptor that is readable when `serve` has work to do."""
        return self._poller.fileno()

    def serve_run(self, entry: SdkEntry) -> None:
        """Switches to the next run. Later callers connect to that run at the same path."""
        self._entry = entry._replace(path=self._entry.path)

    def serve(self) -> None:
        """Does some of the pending work without waiting."""
        for fd, _event in self._poller.poll(0, _MOST_AT_ONCE):
            if fd == self._listener.fileno():
                self._accept()
            elif fd in self._callers:
                self._answer(self._callers.pop(fd))

    def close(self) -> None:
        """Stops accepting callers, and removes the socket."""
        for caller in self._callers.values():
            caller.close()
        self._callers.clear()
        self._listener.close()
        self._poller.close()
        try:
            os.unlink(self._entry.path)
        except OSError:
            # The runtime has removed the socket with its folder.
            pass

    def _accept(self) -> None:
        try:
            connection, _address = self._listener.accept()
        except OSError:
            # The caller has disconnected, or this process has too many open files.
            return
        try:
            caller = self._challenge(connection)
        except OSError:
            caller = None
        if caller is None:
            connection.close()
            return
        if len(self._callers) >= _MOST_WAITING:
            self._callers.pop(next(iter(self._callers))).close()
        self._callers[connection.fileno()] = caller
        self._poller.register(connection, select.EPOLLIN)

    def _challenge(self, connection: socket.socket) -> Optional[_Caller]:
        """Sends a challenge to the caller. Returns None for a process that does not belong to the run."""
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid: int = _CREDENTIALS.unpack(credentials)[0]
        folder = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY)
        try:
            lineage = self._lineage(pid)
            if lineage is not None:
                connection.setblocking(False)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                challenge = os.urandom(_CHALLENGE_BYTES).hex()
                # Earlier versions of the package do not support the challenge, and treat this message as a refusal.
                line = {"ok": False, "code": "unavailable", "message": _OUTDATED, "challenge": challenge}
                connection.send(json.dumps(line).encode() + b"\n")
                return _Caller(connection, challenge.encode(), pid, folder, lineage)
        except OSError:
            os.close(folder)
            raise
        os.close(folder)
        return None

    def _answer(self, caller: _Caller) -> None:
        self._poller.unregister(caller.connection)
        try:
            if self._is_of_run(caller):
                self._connect(caller.connection)
        except OSError:
            # The caller or the platform has disconnected. The caller detects the closed connection.
            pass
        finally:
            caller.close()

    def _is_of_run(self, caller: _Caller) -> bool:
        """Whether the process that connected has sent the response, and still belongs to the run."""
        space = socket.CMSG_SPACE(_CREDENTIALS.size)
        data, controls, _flags, _address = caller.connection.recvmsg(2 * len(caller.challenge), space)
        senders = [
            _CREDENTIALS.unpack(content)[0]
            for _level, kind, content in controls
            if kind == socket.SCM_CREDENTIALS
        ]
        return (
            data == caller.challenge
            and senders == [caller.pid]
            and self._lineage(caller.pid) == caller.lineage
            and process_tree.is_there(caller.folder)
        )

    def _lineage(self, pid: int) -> Optional[Tuple[int, ...]]:
        return (pid,) if self._init is None else process_tree.lineage(pid, self._init)

    def _connect(self, connection: socket.socket) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as platform:
            # Never blocks, because the supervisor must not wait for a busy runtime.
            platform.setblocking(False)
            platform.connect(self._entry.server)
            platform.send(self._entry.token.encode())
            platform.setblocking(True)
            socket.send_fds(connection, [b"+"], [platform.fileno()])


def _bind(listener: socket.socket, path: str) -> None:
    try:
        listener.bind(path)
    except OSError as error:
        if error.errno != EADDRINUSE:
            raise
        # Removes the socket of a supervisor that was killed while it prepared the same run.
        os.unlink(path)
        listener.bind(path)
