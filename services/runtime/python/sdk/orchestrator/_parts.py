"""The groups of calls of `Platform`."""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO, Dict, List, NamedTuple, Optional, Tuple, TypeVar, Union

from ._channel import Channel, encoded
from ._errors import NotFound
from ._local import LocalChannel

AnyChannel = Union[Channel, LocalChannel]
Default = TypeVar("Default")
_MISSING: Any = object()


class Secrets:
    """The secrets of the script."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def get(self, name: str, default: Default = _MISSING) -> Union[str, Default]:
        """The present value of a secret. Each read is recorded; the run's log shows `***` for it.

        @raises NotFound where the script has none of that name and no `default` is given.
        """
        try:
            return str(self._channel.call("secrets.get", {"name": name}))
        except NotFound:
            if default is _MISSING:
                raise
            return default


class StoredFile(NamedTuple):
    """A file that a run has stored."""

    path: str
    size_bytes: int


class Storage:
    """Files that a run gives to keep: its artifacts."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def upload(self, path: str, data: Union[bytes, str, BinaryIO]) -> None:
        """Stores a file of this run, in place of an earlier one of the path.

        @param data text is stored as UTF-8; of an open file what is left of it.
        """
        body, size = _body(data)
        self._channel.call("storage.upload", {"path": path}, body, size)

    def download(self, path: str, run_id: Optional[str] = None) -> bytes:
        """A stored file of this run, or of another one of the same script.

        @raises NotFound where there is none.
        """
        return self._channel.download("storage.download", {"path": path, "run_id": run_id})

    def list(self, prefix: str = "", run_id: Optional[str] = None) -> List[StoredFile]:
        """The stored files whose paths begin with `prefix`, by path."""
        found = self._channel.call("storage.list", {"prefix": prefix, "run_id": run_id})
        return [StoredFile(one["path"], one["size_bytes"]) for one in found]


def _body(data: Union[bytes, str, BinaryIO]) -> Tuple[BinaryIO, int]:
    if isinstance(data, str):
        data = data.encode()
    if isinstance(data, (bytes, bytearray, memoryview)):
        content = bytes(data)
        return io.BytesIO(content), len(content)
    if data.seekable():
        start = data.tell()
        size = data.seek(0, os.SEEK_END) - start
        data.seek(start)
        return data, size
    content = data.read()
    return io.BytesIO(content), len(content)


def _is_raw(payload: Any) -> bool:
    return isinstance(payload, (bytes, str, bytearray, memoryview)) or hasattr(payload, "read")


class Database:
    """The platform's own records of the script's group."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def query(self, sql: str) -> List[Dict[str, Any]]:
        """The rows of a query that only reads: over `scripts`, `schedules`, `runs`
        and `run_logs`.

        @raises QueryFailed saying why: it is wrong, calls a function that is not listed, took over
            5 s, or has over 1,000 rows or 4 MiB
        @raises Unavailable when other queries kept it waiting for over 30 s
        """
        return list(self._channel.call("db.query", {"sql": sql}))


class Mqtt:
    """The platform's MQTT broker."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def publish(
        self, topic: str, payload: Any, qos: int = 1, retain: bool = False
    ) -> None:
        """Publishes a message of at most 256 KiB.

        @param payload bytes, text or an open file as they are; any other value as JSON
        @param qos 1: returns when the broker has it; 0: when it is sent
        @raises InvalidRequest for a value that JSON cannot hold
        @raises Refused where the platform has no broker
        @raises Unavailable when the broker does not take it
        """
        body, size = _body(payload if _is_raw(payload) else encoded(payload))
        args = {"topic": topic, "qos": qos, "retain": retain}
        self._channel.call("mqtt.publish", args, body, size)


class State:
    """Small values that the script keeps from run to run, by key: whatever JSON holds."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def get(self, key: str, default: Any = None) -> Any:
        """What is kept under `key`; `default` where nothing is."""
        try:
            return self._channel.call("state.get", {"key": key})
        except NotFound:
            return default

    def set(self, key: str, value: Any) -> None:
        """Keeps a value of at most 64 KiB as JSON."""
        self._channel.call("state.set", {"key": key, "value": value})

    def delete(self, key: str) -> None:
        """Keeps it no longer; nothing happens where there is none."""
        self._channel.call("state.delete", {"key": key})
