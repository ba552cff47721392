"""Messages between a supervisor, its init, and the script's process of each run, on private sockets.

The first byte of a datagram is its kind. The kernel adds the sender's process ID to READY. The supervisor thus learns
the ID of the script's process in the supervisor's own PID namespace.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .frames import SandboxError

# Kinds of messages to the supervisor. The init's READY contains a descriptor of its /proc folder. READY from a script's
# process contains the listener descriptor of its listen(2) filter.
READY = b"r"
FAILED = b"f"
ENDED = b"x"
SWEPT = b"e"
PAUSED = b"p"
# Kinds of messages to the init. ORDER contains the far ends of the connections to the next script.
ORDER = b"o"
SWEEP = b"w"
# Kinds of messages to the script's process.
PART = b"s"
LAST_PART = b"S"
GO = b"g"

_DATAGRAM_BYTES = 32 * 1024
_CREDENTIALS_BYTES = 12
_MOST_DESCRIPTORS = 4


class Message(NamedTuple):
    """A datagram that the supervisor has received. If the sender has exited, `kind` is empty."""

    kind: bytes
    content: bytes
    descriptor: Optional[int]
    sender: int


def open_gate() -> Tuple[socket.socket, socket.socket]:
    """Creates a pair of connected sockets: the supervisor's end, and the other end."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return near, far


def content_of(message: Message) -> Dict[str, object]:
    """Returns the content of a JSON message."""
    content: Dict[str, object] = json.loads(message.content)
    return content


def failure_of(message: Message) -> SandboxError:
    """Converts a message from `send_failure` to an error."""
    content = content_of(message)
    return SandboxError(str(content["stage"]), str(content["message"]))


def receive(gate: socket.socket) -> Message:
    """Receives the next datagram in the supervisor."""
    space = socket.CMSG_SPACE(_CREDENTIALS_BYTES) + socket.CMSG_SPACE(4)
    try:
        data, controls, _flags, _address = gate.recvmsg(_DATAGRAM_BYTES, space)
    except ConnectionResetError:
        # The peer exited before reading all messages. The kernel reports this once, before its last datagrams.
        data, controls, _flags, _address = gate.recvmsg(_DATAGRAM_BYTES, space)
    descriptor, sender = None, 0
    for _level, kind, content in controls:
        if kind == socket.SCM_RIGHTS:
            descriptor = int.from_bytes(content[:4], "little")
        elif kind == socket.SCM_CREDENTIALS:
            sender = int.from_bytes(content[:4], "little")
    return Message(data[:1], data[1:], descriptor, sender)


def receive_order(control: socket.socket) -> Tuple[bytes, List[int]]:
    """Receives the next datagram in the init: its kind, and its descriptors. The kind is empty if the supervisor has
    exited."""
    data, descriptors, _flags, _address = socket.recv_fds(control, 1, _MOST_DESCRIPTORS)
    for descriptor in descriptors:
        # Makes received descriptors non-inheritable. Otherwise, executed programs would inherit them.
        os.set_inheritable(descriptor, False)
    return data, list(descriptors)


def send_run(gate: socket.socket, data: bytes, descriptors: Sequence[int] = ()) -> None:
    """Sends a run to the script's process, with descriptors that the script keeps."""
    step = _DATAGRAM_BYTES - 1
    while len(data) > step:
        gate.send(PART + data[:step])
        data = data[step:]
    socket.send_fds(gate, [LAST_PART + data], descriptors)


def receive_run(gate: socket.socket) -> Optional[Tuple[bytes, List[int]]]:
    """Receives a run from `send_run`. Returns None if the supervisor has exited."""
    parts = []
    while True:
        datagram, descriptors, _flags, _address = socket.recv_fds(
            gate, _DATAGRAM_BYTES, _MOST_DESCRIPTORS
        )
        if not datagram:
            return None
        parts.append(datagram[1:])
        if datagram[:1] == LAST_PART:
            return b"".join(parts), list(descriptors)


def send_ready(gate: socket.socket, descriptors: Sequence[int]) -> None:
    """Reports to the supervisor that the init process accepts requests, or that the script can start. Then closes
    the descriptors."""
    try:
        socket.send_fds(gate, [READY], descriptors)
    except OSError:
        return
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def send_json(gate: socket.socket, kind: bytes, content: Dict[str, object]) -> None:
    """Sends JSON to the supervisor. Does nothing if the supervisor has exited."""
    try:
        gate.send(kind + json.dumps(content).encode())
    except OSError:
        return


def send_failure(gate: socket.socket, error: SandboxError) -> None:
    """Reports to the supervisor that the script cannot be executed."""
    send_json(gate, FAILED, {"stage": error.stage, "message": error.message})
