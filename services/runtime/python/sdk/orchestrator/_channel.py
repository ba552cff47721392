"""The run's private socket.

Each call opens its own connection, so threads and forks never share a connection. The run's supervisor listens on the
socket. A connecting process must return a challenge, which proves that the process belongs to the run. The supervisor
then passes a platform connection to the process.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any, BinaryIO, Dict, Optional, Tuple

from ._errors import BY_CODE, InvalidRequest, OrchestratorError, Unavailable

_PATIENCE_SECONDS = 120.0
_PIECE_BYTES = 256 * 1024
_MAX_LINE_BYTES = 1024 * 1024
_MAX_GREETING_BYTES = 4096


class Channel:
    """Sends calls to the platform."""

    is_local = False

    def __init__(self, path: str, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self._path = path
        self._patience_seconds = patience_seconds

    def call(
        self, name: str, args: Dict[str, Any], body: Optional[BinaryIO] = None, size: int = 0
    ) -> Any:
        """Returns the result of a call. `body` must contain exactly `size` bytes."""
        return self._exchange(name, args, body, size)[0]

    def download(self, name: str, args: Dict[str, Any]) -> bytes:
        """Returns a call's response as bytes."""
        return self._exchange(name, args, None, 0)[1]

    def _exchange(
        self, name: str, args: Dict[str, Any], body: Optional[BinaryIO], size: int
    ) -> Tuple[Any, bytes]:
        line = _line(name, args, size)
        try:
            with connect(self._path, self._patience_seconds) as connection:
                _send(connection, line, body, size)
                with connection.makefile("rb", buffering=_PIECE_BYTES) as answer:
                    return _read(answer)
        except OSError as error:
            raise Unavailable(f"the platform does not respond: {error}") from error


def connect(path: str, patience_seconds: float = _PATIENCE_SECONDS) -> socket.socket:
    """Opens a connection to the platform. @raises OSError if the connection fails"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as entry:
        # Python's own timeout makes the socket non-blocking. Connecting would then fail immediately if the queue is
        # full.
        entry.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(patience_seconds))
        entry.connect(path)
        entry.settimeout(patience_seconds)
        with entry.makefile("rb") as lines:
            greeting = lines.readline(_MAX_GREETING_BYTES)
        if not greeting.endswith(b"\n"):
            raise ConnectionRefusedError("this process does not belong to the run")
        entry.sendall(json.loads(greeting)["challenge"].encode())
        descriptors = socket.recv_fds(entry, 1, 1)[1]
    if not descriptors:
        raise ConnectionRefusedError("the platform refused the connection")
    connection = socket.socket(fileno=descriptors[0])
    connection.set_inheritable(False)
    connection.settimeout(patience_seconds)
    return connection


def _timeval(seconds: float) -> bytes:
    return struct.pack("ll", int(seconds), int(seconds % 1 * 1_000_000))


def encoded(value: Any) -> bytes:
    """Encodes a value as JSON.

    @raises InvalidRequest if JSON cannot represent the value
    """
    try:
        return json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the value cannot be encoded as JSON: {error}") from error


def _line(name: str, args: Dict[str, Any], size: int) -> bytes:
    request: Dict[str, Any] = {"call": name, "args": args, "size": size}
    line = encoded(request) + b"\n"
    if len(line) > _MAX_LINE_BYTES:
        raise InvalidRequest("the value is too large")
    return line


def _send(connection: socket.socket, line: bytes, body: Optional[BinaryIO], size: int) -> None:
    try:
        connection.sendall(line)
        left = size
        while body is not None and left > 0:
            piece = body.read(min(left, _PIECE_BYTES))
            if not piece:
                raise InvalidRequest("the data ended early")
            connection.sendall(piece)
            left -= len(piece)
        connection.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        # The platform rejected the request early. Its response gives the reason.
        return


def _read(answer: BinaryIO) -> Tuple[Any, bytes]:
    line = answer.readline()
    if not line.endswith(b"\n"):
        raise Unavailable("the platform closed the connection")
    reply = json.loads(line)
    if not reply["ok"]:
        kind = BY_CODE.get(reply["code"], OrchestratorError)
        raise kind(reply["message"])
    size = reply.get("size", 0)
    content = answer.read(size) if size else b""
    if len(content) != size:
        raise Unavailable("the platform closed the connection")
    return reply["result"], content


def open_channel() -> Optional[Channel]:
    """Opens the run's channel. Returns None outside the platform."""
    path = os.environ.get("ORCH_SOCKET")
    return Channel(path) if path else None
