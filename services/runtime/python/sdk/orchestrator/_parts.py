"""The objects that `Platform` provides."""

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
        """Returns the current value of a secret. Each read is recorded. The run's log masks the value as `***`.

        @raises NotFound if the secret does not exist and no `default` is given
        """
        try:
            return str(self._channel.call("secrets.get", {"name": name}))
        except NotFound:
            if default is _MISSING:
                raise
            return default


class StoredFile(NamedTuple):
    """A file stored by a run."""

    path: str
    size_bytes: int


class Storage:
    """A run's artifacts."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def upload(self, path: str, data: Union[bytes, str, BinaryIO]) -> None:
        """Stores a file of this run. Replaces an existing file with the same path.

        @param data bytes, text (stored as UTF-8), or an open file, read from its current position
        """
        body, size = _body(data)
        self._channel.call("storage.upload", {"path": path}, body, size)

    def download(self, path: str, run_id: Optional[str] = None) -> bytes:
        """Returns a stored file of this run, or of another run of the same script.

        @raises NotFound if the file does not exist
        """
        return self._channel.download("storage.download", {"path": path, "run_id": run_id})

    def list(self, prefix: str = "", run_id: Optional[str] = None) -> List[StoredFile]:
        """Lists the stored files whose paths start with `prefix`, sorted by path."""
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
    """Read-only access to the platform's data about the script's group."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def query(self, sql: str) -> List[Dict[str, Any]]:
        """Returns the rows of a read-only query on `scripts`, `schedules`, `runs` and `run_logs`.

        @raises QueryFailed if the query is not valid, calls a function that is not allowed, takes
            over 5 s, or returns over 1,000 rows or 4 MiB
        @raises Unavailable if the query waited over 30 s for other queries
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

        @param payload bytes, text and open files are sent unchanged, and any other value as JSON
        @param qos 1 waits until the broker confirms the message, and 0 does not wait
        @raises InvalidRequest if the payload cannot be encoded as JSON
        @raises Refused if the platform has no broker
        @raises Unavailable if the broker does not accept the message
        """
        body, size = _body(payload if _is_raw(payload) else encoded(payload))
        args = {"topic": topic, "qos": qos, "retain": retain}
        self._channel.call("mqtt.publish", args, body, size)


class State:
    """Small JSON values that persist between runs of the script, by key."""

    def __init__(self, channel: AnyChannel) -> None:
        self._channel = channel

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of `key`, or `default` if the key does not exist."""
        try:
            return self._channel.call("state.get", {"key": key})
        except NotFound:
            return default

    def set(self, key: str, value: Any) -> None:
        """Stores a value of at most 64 KiB as JSON."""
        self._channel.call("state.set", {"key": key, "value": value})

    def delete(self, key: str) -> None:
        """Deletes the value of `key`, if it exists."""
        self._channel.call("state.delete", {"key": key})
