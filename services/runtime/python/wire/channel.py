"""The supervisor's end of its channel to the runtime. It never blocks, and detects a closed connection."""

from __future__ import annotations

import json
import select
import socket
from collections import deque
from typing import Deque, Iterator, Mapping, Tuple

from .frames import HEADER, FrameReader, ProtocolError

_READ_BYTES = 64 * 1024
# When more bytes than this are unsent, the script's output is not read, so the script blocks on its pipe.
_FULL_BYTES = 256 * 1024


class Channel:
    """The connection to the runtime. `open` is false after the runtime has closed it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = FrameReader()
        self._pending: Deque[memoryview] = deque()
        self._pending_bytes = 0
        self.open = True

    def fileno(self) -> int:
        """Returns the descriptor for polling."""
        return self._connection.fileno()

    @property
    def full(self) -> bool:
        """Whether too many bytes are unsent to read more output."""
        return self._pending_bytes >= _FULL_BYTES

    @property
    def wanted(self) -> int:
        """Returns the events to poll for."""
        return select.POLLIN | (select.POLLOUT if self._pending else 0)

    def receive_first(self) -> Tuple[bytes, bytes]:
        """Waits for the first frame. `receive` returns later frames.

        @raises ProtocolError if the connection ends before the first frame is complete
        """
        while True:
            data = self._connection.recv(_READ_BYTES)
            if not data:
                raise ProtocolError("the connection ended before its first frame")
            for frame in self._reader.feed(data):
                self._connection.setblocking(False)
                return frame

    def receive(self) -> Iterator[Tuple[bytes, bytes]]:
        """Returns the frames that have arrived."""
        try:
            data = self._connection.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.open = False
            return
        yield from self._reader.feed(data)

    def send_json(self, kind: bytes, content: Mapping[str, object]) -> None:
        """Sends or queues one frame with JSON content."""
        self.send(kind, json.dumps(content).encode())

    def send(self, kind: bytes, payload: bytes) -> None:
        """Sends or queues one frame."""
        frame = memoryview(HEADER.pack(kind, len(payload)) + payload)
        self._pending.append(frame)
        self._pending_bytes += len(frame)
        self.flush()

    def flush(self) -> None:
        """Sends as much as possible without waiting."""
        try:
            while self._pending:
                frame = self._pending[0]
                sent = self._connection.send(frame)
                self._pending_bytes -= sent
                if sent < len(frame):
                    self._pending[0] = frame[sent:]
                else:
                    self._pending.popleft()
        except BlockingIOError:
            return
        except OSError:
            self.open = False
            self._pending.clear()
            self._pending_bytes = 0

    @property
    def flushed(self) -> bool:
        """Whether all frames have been sent."""
        return not self._pending

    def close(self) -> None:
        """Closes the connection after the runtime has received all data or has disconnected. An immediate close could
        reset the connection while a heartbeat is in transit. The runtime would then lose unread data."""
        try:
            self._connection.setblocking(True)
            self._connection.shutdown(socket.SHUT_WR)
            while self._connection.recv(_READ_BYTES):
                pass
        except OSError:
            # The connection is already closed.
            pass
        self._connection.close()
