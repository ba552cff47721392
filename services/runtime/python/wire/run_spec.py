"""The specification of a run. Parses and validates the SPEC frame, which the type RunSpec in sandbox.ts describes."""

from __future__ import annotations

import json
import marshal
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .frames import SandboxError


class RunFile(NamedTuple):
    """A file in the workspace: its relative path, the path of its content, and its permission bits."""

    path: Tuple[str, ...]
    source: str
    mode: int


class Limits(NamedTuple):
    """None means no limit."""

    cpu_seconds: Optional[float]
    memory_bytes: Optional[int]
    address_space_bytes: Optional[int]
    open_files: Optional[int]
    processes: Optional[int]
    wall_clock_seconds: Optional[float]
    disk_bytes: Optional[int]


class SdkEntry(NamedTuple):
    """The connection from a run's processes to the SDK server: the path of the run's socket, the path of the server's
    socket, and the token with which the supervisor connects to the server."""

    path: str
    server: str
    token: str


class ResidentEntry(NamedTuple):
    """A run in a resident process. If `is_last` is true, the process exits after this run. `payload` is the path of the
    payload file."""

    is_last: bool
    payload: Optional[str]


class RunSpec(NamedTuple):
    """The specification of a run. All paths are absolute host paths."""

    run_id: str
    script_id: str
    user: str
    argv: List[bytes]
    env: Dict[bytes, bytes]
    workspace_env: List[bytes]
    files: List[RunFile]
    data_folder: Optional[str]
    read_only: List[str]
    read_write: List[str]
    hidden: List[str]
    listen_ports: List[int]
    limits: Limits
    lease_ms: float
    stop_grace_ms: float
    sdk: Optional[SdkEntry] = None
    private_paths: Sequence[str] = ()
    resident: Optional[ResidentEntry] = None
    merge_stderr: bool = False


_LIMITS = RunSpec._fields.index("limits")
_RESIDENT = RunSpec._fields.index("resident")


def parse_spec(payload: bytes) -> RunSpec:
    """Parses a SPEC frame.

    @raises SandboxError with stage `spec`
    """
    try:
        data = json.loads(payload)
        return RunSpec(
            run_id=_identifier(data["run_id"]),
            script_id=_identifier(data["script_id"]),
            user=_identifier(data["user"]),
            argv=_argv(data["argv"]),
            env={_word(name): _word(value) for name, value in data["env"].items()},
            workspace_env=[_word(name) for name in data["workspace_env"]],
            files=[_file(item) for item in data["files"]],
            data_folder=None if data["data_folder"] is None else _absolute(data["data_folder"]),
            read_only=[_absolute(path) for path in data["read_only"]],
            read_write=[_absolute(path) for path in data["read_write"]],
            hidden=[_absolute(path) for path in data["hidden"]],
            listen_ports=[_port(port) for port in data["listen_ports"]],
            limits=_limits(data["limits"]),
            merge_stderr=bool(data["merge_stderr"]),
            lease_ms=float(data["lease_ms"]),
            stop_grace_ms=float(data["stop_grace_ms"]),
            private_paths=[_absolute(path) for path in data["private_paths"]],
            sdk=None if data["sdk"] is None else _sdk_entry(data["sdk"]),
            resident=None if data["resident"] is None else _resident_entry(data["resident"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SandboxError("spec", f"{type(error).__name__}: {error}") from error


def pack_spec(spec: RunSpec) -> bytes:
    """Encodes the run for the script's process, without the files and the token."""
    parts = spec._replace(files=[], sdk=None)
    tuples = (spec.limits, spec.resident)
    return marshal.dumps(
        [tuple(part) if part and any(part is one for one in tuples) else part for part in parts]
    )


def unpack_spec(data: bytes) -> RunSpec:
    """Decodes the result of `pack_spec`."""
    parts = marshal.loads(data)
    parts[_LIMITS] = Limits(*parts[_LIMITS])
    if parts[_RESIDENT] is not None:
        parts[_RESIDENT] = ResidentEntry(*parts[_RESIDENT])
    return RunSpec(*parts)


def relative_parts(path: str) -> Tuple[str, ...]:
    """Splits a relative path that stays inside its folder.

    @raises ValueError for an absolute path, and for `..`, `.`, empty parts and NUL
    """
    parts = tuple(path.split("/"))
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"not a relative path: {path!r}")
    return parts


def _identifier(text: str) -> str:
    # The characters are restricted, because the text is used as a folder name.
    allowed = all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in text)
    if not allowed or not 0 < len(text) <= 128:
        raise ValueError(f"not an identifier: {text!r}")
    return text


def _argv(words: List[str]) -> List[bytes]:
    if not words or not words[0].startswith("/"):
        raise ValueError("argv[0] is not an absolute path")
    return [_word(word) for word in words]


def _word(text: str) -> bytes:
    word = os.fsencode(text)
    if b"\0" in word:
        raise ValueError("NUL in an argument or variable")
    return word


def _absolute(path: str) -> str:
    if not path.startswith("/") or path == "/":
        raise ValueError(f"not an absolute path: {path!r}")
    relative_parts(path[1:])
    return path


def _port(number: int) -> int:
    port = int(number)
    if not 0 <= port <= 65_535:
        raise ValueError(f"not a port: {number!r}")
    return port


def _file(item: Mapping[str, Any]) -> RunFile:
    return RunFile(
        relative_parts(item["path"]), _absolute(item["source"]), int(item["mode"]) & 0o777
    )


def _sdk_entry(data: Mapping[str, str]) -> SdkEntry:
    return SdkEntry(_absolute(data["path"]), _absolute(data["server"]), str(data["token"]))


def _resident_entry(data: Mapping[str, Any]) -> ResidentEntry:
    payload = data["payload"]
    return ResidentEntry(bool(data["is_last"]), None if payload is None else _absolute(payload))


def _limits(data: Mapping[str, Any]) -> Limits:
    return Limits(
        cpu_seconds=_positive(data["cpu_seconds"]),
        memory_bytes=_whole(data["memory_bytes"]),
        address_space_bytes=_whole(data["address_space_bytes"]),
        open_files=_whole(data["open_files"]),
        processes=_whole(data["processes"]),
        wall_clock_seconds=_positive(data["wall_clock_seconds"]),
        disk_bytes=_whole(data["disk_bytes"]),
    )


def _positive(value: Optional[float]) -> Optional[float]:
    if value is not None and not value > 0:
        raise ValueError(f"not a limit: {value!r}")
    return None if value is None else float(value)


def _whole(value: Optional[float]) -> Optional[int]:
    positive = _positive(value)
    return None if positive is None else int(positive)
