"""Lets a run's supervisor decide each listen(2) call.

An unbound socket gets a port when it listens. Landlock's port rules do not cover this case, nor MPTCP sockets. A system
call filter only sees a descriptor. Therefore, the kernel pauses the caller and notifies the supervisor. The supervisor
copies the socket, inspects it, and listens on behalf of the caller.

The script still has the socket. If another thread disconnects the socket (AF_UNSPEC), the socket loses the port that
the kernel chose, and listen(2) would make the kernel choose another port. Therefore, the supervisor restricts the
kernel to one port (`_pin`), and checks the port again once the socket listens. From then on, the port cannot change.
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
# A socket option since Linux 6.3. The filter on listen(2) prevents scripts from using it.
_IP_LOCAL_PORT_RANGE = 51


class Listening(NamedTuple):
    """The permitted TCP ports of a run. 0 stands for any port that the kernel chooses.

    `user` is the ID of the run's system user, or None if the run has the supervisor's user.
    """

    ports: Sequence[int]
    user: Optional[int]


def answer_listen(listener: int, listening: Listening) -> bool:
    """Decides one listen(2) call. Call this function when `listener` has an event.

    @param listener the filter's listener descriptor (see `syscalls.hear_system_calls`)
    @returns False when the run has no processes left
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

    @returns the error for the caller, or 0
    """
    try:
        own = syscalls.copy_descriptor(_leader(process), descriptor)
    except OSError as error:
        return error.errno or EINVAL
    try:
        found = socket.socket(fileno=own)
        # Detaches the socket object, because the code below closes the descriptor.
        try:
            return _decide(found, min(backlog, _MOST_BACKLOG), listening)
        finally:
            found.detach()
    except OSError as error:
        return error.errno or EINVAL
    finally:
        _close(own)


def _leader(process: int) -> int:
    """Returns the ID of the process to which a thread belongs."""
    with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as file:
        return int(next(line for line in file if line.startswith("Tgid:"))[5:])


def _decide(found: socket.socket, backlog: int, listening: Listening) -> int:
    if found.family == socket.AF_UNIX:
        # Listens as the script's user, because clients can see which user listens.
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
    # Resets connections that were not accepted yet.
    found.shutdown(socket.SHUT_RDWR)
    return EACCES


def _pin(found: socket.socket, port: int) -> None:
    """Makes the kernel choose exactly this port. Has no effect for a port outside the kernel's range, which only the
    script can have chosen."""
    try:
        found.setsockopt(socket.IPPROTO_IP, _IP_LOCAL_PORT_RANGE, _RANGE.pack(port, port))
    except OSError:
        # The kernel or the protocol does not support this option.
        pass


def _port_of(found: socket.socket) -> int:
    return int(found.getsockname()[1])


def _is_allowed(port: int, ports: Sequence[int]) -> bool:
    """@param port the port, or 0 if the kernel is about to choose one"""
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
    """Closes the descriptor. The timer interrupts the close if the script has set a linger option."""
    before = signal.signal(signal.SIGALRM, lambda _number, _frame: None)
    signal.setitimer(signal.ITIMER_REAL, _CLOSING_SECONDS, _CLOSING_SECONDS)
    try:
        os.close(descriptor)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
