"""Local mode, which replaces the platform when a script runs elsewhere.

Secrets are read from environment variables. Files and state are stored in `.orchestrator-local`. Output, progress and
notifications are written to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, BinaryIO, Dict, List, Optional

from ._errors import InvalidRequest, NotFound, NotOnPlatform

FOLDER = ".orchestrator-local"
_PIECE_BYTES = 256 * 1024


class LocalChannel:
    """Handles calls locally, with the interface of `Channel`."""

    is_local = True

    def __init__(self) -> None:
        _say("local mode: the script does not run on the platform")

    def call(
        self, name: str, args: Dict[str, Any], body: Optional[BinaryIO] = None, size: int = 0
    ) -> Any:
        """See `Channel.call`."""
        handler = getattr(self, "_" + name.replace(".", "_"), None)
        if handler is None:
            raise NotOnPlatform(f"{name} is not available in local mode")
        return handler(body=body, **args) if body is not None else handler(**args)

    def download(self, name: str, args: Dict[str, Any]) -> bytes:
        """See `Channel.download`."""
        _same_run(args["run_id"])
        try:
            with open(_file(args["path"]), "rb") as file:
                return file.read()
        except FileNotFoundError:
            raise NotFound(f"file {args['path']!r} not found") from None

    def _secrets_get(self, name: str) -> str:
        value = os.environ.get(name)
        if value is None:
            raise NotFound(f"in local mode, secrets are environment variables: set {name}")
        return value

    def _output(self, value: Any) -> None:
        _say("output " + json.dumps(value, allow_nan=False))

    def _progress(self, fraction: float, text: str) -> None:
        _say(f"progress {fraction:.0%} {text}".rstrip())

    def _error(self, error: Dict[str, Any]) -> None:
        _say(f"reported {error['type']}: {error['message']}")

    def _spans(self, spans: List[Dict[str, Any]]) -> None:
        for span in spans:
            if span["ended_at"] is not None:
                milliseconds = span["ended_at"] - span["started_at"]
                _say(f"span {span['name']} {'failed after' if span['failed'] else 'took'} {milliseconds:.0f} ms")

    def _notify(self, message: str, level: str) -> None:
        _say(f"notification ({level}) {message}")

    def _mqtt_publish(self, topic: str, qos: int, retain: bool, body: BinaryIO) -> None:
        _say(f"mqtt {topic} {body.read()!r} (qos {qos}{', retained' if retain else ''})")

    def _storage_upload(self, path: str, body: BinaryIO) -> None:
        target = _file(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            while piece := body.read(_PIECE_BYTES):
                file.write(piece)

    def _storage_list(self, prefix: str, run_id: Optional[str]) -> List[Dict[str, Any]]:
        _same_run(run_id)
        top = os.path.join(FOLDER, "storage")
        found = []
        for folder, _folders, names in os.walk(top):
            for name in names:
                full = os.path.join(folder, name)
                path = os.path.relpath(full, top).replace(os.sep, "/")
                if path.startswith(prefix):
                    found.append({"path": path, "size_bytes": os.path.getsize(full)})
        return sorted(found, key=lambda one: one["path"])

    def _state_get(self, key: str) -> Any:
        state = _state()
        if key not in state:
            raise NotFound(f"no value is stored under the key {key!r}")
        return state[key]

    def _state_set(self, key: str, value: Any) -> None:
        _save_state({**_state(), key: value})

    def _state_delete(self, key: str) -> None:
        _save_state({other: value for other, value in _state().items() if other != key})


def _say(text: str) -> None:
    print(f"[orchestrator] {text}", file=sys.stderr, flush=True)


def _same_run(run_id: Optional[str]) -> None:
    if run_id is not None:
        raise NotFound("local mode has no other runs")


def _file(path: str) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in path:
        raise InvalidRequest(f"the path is not valid: {path!r}")
    return os.path.join(FOLDER, "storage", *parts)


def _state() -> Dict[str, Any]:
    try:
        with open(os.path.join(FOLDER, "state.json"), encoding="utf-8") as file:
            return dict(json.load(file))
    except FileNotFoundError:
        return {}


def _save_state(state: Dict[str, Any]) -> None:
    os.makedirs(FOLDER, exist_ok=True)
    target = os.path.join(FOLDER, "state.json")
    with open(target + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file, allow_nan=False)
    os.replace(target + ".new", target)
