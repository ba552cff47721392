"""The program of a resident process, which the platform starts: `python _resident.py ENTRYPOINT`.

Imports the entry point once, then calls its handler for each run. `ORCH_RESIDENT` names the descriptor on which the
runs arrive. Each run has a file with its variables, and a file with its payload if there is one.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any, BinaryIO, Dict, List, Optional, Tuple

_MOST_FILES = 2


def main() -> int:
    """Executes runs. Returns when the platform sends no more runs."""
    orders = socket.socket(fileno=int(os.environ.pop("ORCH_RESIDENT")))
    orders.set_inheritable(False)
    handler_module = _own_module()
    entrypoint = sys.argv[1]
    sys.argv[:] = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(entrypoint))
    handler: Any = None
    own_number = os.getpid()
    while True:
        received = _receive(orders)
        if received is None:
            return 0
        order, payload = received
        _set_variables(order["variables"])
        try:
            if handler is None:
                handler = handler_module.Handler(entrypoint)
            context = handler_module.Context(
                os.environ.get("ORCH_RUN_ID"), order["wall_clock_seconds"]
            )
            handler.call(_event(payload), context)
            status = 0
        except SystemExit as error:
            _report(error)
            raise
        except Exception as error:
            handler_module.report_error(error)
            _report(error)
            if handler is None:
                return 1
            status = 1
        _flush()
        if os.getpid() != own_number:
            # The handler returned in a forked child, but only the original process may execute runs.
            os._exit(status)
        orders.send(bytes([status]))


def _own_module() -> Any:
    """Loads the handler module from this file's folder, even if the environment has another version of the package."""
    # The first entry of the path is this program's folder until the script's folder replaces it.
    import _handler

    # Removes the module's name, because the script may have a module with the same name.
    return sys.modules.pop(_handler.__name__)


def _report(error: BaseException) -> None:
    try:
        from orchestrator import _report as report

        report.send(report.describe(error))
    except Exception:
        # The report failed, so the platform reads the traceback from the log instead.
        pass


def _receive(orders: socket.socket) -> Optional[Tuple[Dict[str, Any], Optional[bytes]]]:
    data, descriptors, _flags, _address = socket.recv_fds(orders, 1, _MOST_FILES)
    if not data:
        return None
    files: List[BinaryIO] = [open(descriptor, "rb") for descriptor in descriptors]
    contents = [file.read() for file in files]
    for file in files:
        file.close()
    return json.loads(contents[0]), contents[1] if len(contents) > 1 else None


def _set_variables(variables: Dict[str, str]) -> None:
    for name in [name for name in os.environ if name not in variables]:
        del os.environ[name]
    for name, value in variables.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _event(payload: Optional[bytes]) -> Dict[str, Any]:
    event: Dict[str, Any] = {
        "params": json.loads(os.environ.get("ORCH_PARAMS") or "{}"),
        "payload": None,
    }
    if payload is not None:
        headers = json.loads(os.environ.get("ORCH_PAYLOAD_HEADERS") or "{}")
        event["payload"] = {"headers": headers, "body": payload}
    return event


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            # The script has closed the stream.
            continue


if __name__ == "__main__":
    sys.exit(main())
