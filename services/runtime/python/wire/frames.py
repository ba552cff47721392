"""The frames of a run's channel. A frame consists of a kind (one byte), a length (four bytes, big-endian) and a
payload.

Payloads are UTF-8 JSON objects, except for STDOUT and STDERR, whose payloads are raw bytes. The other end is
`run-channel.ts`.
"""

from __future__ import annotations

import struct
from typing import Iterator, Tuple

HEADER = struct.Struct(">cI")
MAX_PAYLOAD_BYTES = 32 * 1024 * 1024

# Kinds of frames from the runtime.
SPEC = b"S"
GO = b"G"
STOP = b"T"
KILL = b"K"
HEARTBEAT = b"H"
PROBE = b"P"

# Kinds of frames to the runtime.
READY = b"r"
STDOUT = b"o"
STDERR = b"e"
SAMPLE = b"s"
EXIT = b"x"
FAILED = b"f"
LAYERS = b"p"


class ProtocolError(Exception):
    """The received bytes do not follow this protocol."""


class SandboxError(Exception):
    """The sandbox failed before it executed the script. A FAILED frame reports the failure. `stage` names the failed
    step."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message


class FrameReader:
    """Splits a byte stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Tuple[bytes, bytes]]:
        """Yields each complete frame as (kind, payload)."""
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            kind, length = HEADER.unpack_from(self._buffer)
            if length > MAX_PAYLOAD_BYTES:
                raise ProtocolError(f"frame of {length} bytes")
            end = HEADER.size + length
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[HEADER.size : end])
            del self._buffer[:end]
            yield kind, payload
