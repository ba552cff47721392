"""Decides each listen(2) of a run, in its supervisor.

A socket that was not bound gets a port when it listens, which Landlock's rules for ports do not cover. They do not
cover MPTCP either. A system call filter sees only a descriptor. Therefore the kernel pauses the caller and asks the
supervisor, which copies the socket, inspects it, and listens in place of the caller.

The script still has the socket. If a thread disconnects it (AF_UNSPEC), it loses the port that the kernel chose, and
listen(2) makes the kernel choose another port. The supervisor therefore leaves the kernel no choice (`_pin`), and
checks again when the socket listens: from then on its port is fixed.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from errno import EACCES, EINVAL
from typing import NamedTuple, Optional, Sequence

from kernel import syscalls

# The formats of a request (identifier, process, flags, call, machine, instruction, arguments) and of a response.
_REQUEST, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=Qqii")
_RANGE = struct.Struct("=HH")
_WORD = 2**32 - 1
_MOST_BACKLOG = 2**31 - 1
_EPHEMERAL = (32768, 60999)
_CLOSING_SECONDS = 0.05
# An option since Linux 6.3. The filter on listen(2) denies it to scripts.
_IP_LOCAL_PORT_RANGE = 51


class Listening(NamedTuple):
    """The permitted TCP ports of a run. 0 stands for ports that the kernel chooses.

    `user` is the ID of the run's system user; None if the run has the user of the supervisor.
    """

    ports: Sequence[int]
    user: Optional[int]


def answer_listen(listener: int, listening: Listening) -> bool:
    """Decides one call of listen(2). Call it when the listener has an event.

    @param listener of the filter (see `syscalls.hear_system_calls`)
    @returns False when the run has no process left
    """
    poller = select.poll()
    poller.register(listener, select.POLLIN)
    events = poller.poll(0)
    if not any(event & select.POLLIN for _fd, event in events):
        return not events
    try:
        data = syscalls.receive_call(listener, _REQUEST.size)
        identifier, process, _flags, _call, _machine, _at, descriptor, backlog, *_ = _REQUEST.unpack(data)
        error = _listen(process, descriptor & _WORD, backlog & _WORD, listening)
        syscalls.answer_call(listener, _ANSWER.pack(identifier, 0, -error, 0))
    except OSError:
        # The calling process was killed in the meantime.
        pass
    return True


def _listen(process: int, descriptor: int, backlog: int, listening: Listening) -> int:
    """Inspects the socket, and listens if this is permitted.
    @returns the error for the caller; 0 if there is no error"""
    try:
        own = syscalls.copy_descriptor(_leader(process), descriptor)
    except OSError as error:
        return error.errno or EINVAL
    try:
        found = socket.socket(fileno=own)
        # Detached, because the code below closes the descriptor.
        try:
            return _decide(found, min(backlog, _MOST_BACKLOG), listening)
        finally:
            found.detach()
    except OSError as error:
        return error.errno or EINVAL
    finally:
        _close(own)


def _leader(process: int) -> int:
    """The ID of the process that a thread belongs to."""
    with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file:
        return int(next(line for line in file if line.startswith("Tgid:"))[5:])


def _decide(found: socket.socket, backlog: int, listening: Listening) -> int:
    if found.family == socket.AF_UNIX:
        # Listens as the user of the script, because clients can see the user of the listening process.
        if listening.user is None:
            found.listen(backlog)
        else:
            syscalls.act_as(listening.user, lambda: found.listen(backlog))
    elif found.family in (socket.AF_INET, socket.AF_INET6):
        return _listen_on_port(found, backlog, listening.ports)
    else:
        return EACCES
    return 0


def _listen_on_port(found: socket.socket, backlog: int, ports: Sequence[int]) -> int:
    port = _port_of(found)
    if not _is_allowed(port, ports):
        return EACCES
    _pin(found, port)
    found.listen(backlog)
    if _is_allowed(_port_of(found), ports):
        return 0
    # Connections that were not accepted yet are reset.
    found.shutdown(socket.SHUT_RDWR)
    return EACCES


def _pin(found: socket.socket, port: int) -> None:
    """Makes the kernel choose exactly this port. Only ports in the kernel's range can be chosen by the kernel; others
    were chosen by the script."""
    try:
        found.setsockopt(socket.IPPROTO_IP, _IP_LOCAL_PORT_RANGE, _RANGE.pack(port, port))
    except OSError:
        # The kernel is older, or the protocol lacks this option.
        pass


def _port_of(found: socket.socket) -> int:
    return int(found.getsockname()[1])


def _is_allowed(port: int, ports: Sequence[int]) -> bool:
    """@param port 0 if the kernel is about to choose one"""
    if port in ports:
        return True
    lowest, highest = _ephemeral_ports()
    return 0 in ports and lowest <= port <= highest


def _ephemeral_ports() -> Sequence[int]:
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return _EPHEMERAL


def _close(descriptor: int) -> None:
    """Makes the following close return soon, even if the script has set a linger option."""
    before = signal.signal(signal.SIGALRM, lambda _number, _frame: None)
    signal.setitimer(signal.ITIMER_REAL, _CLOSING_SECONDS, _CLOSING_SECONDS)
    try:
        os.close(descriptor)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
