"""Calls the handler of a file in local mode: `python -m orchestrator main.py --params '{"name": "Ada"}'`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Dict

from ._handler import Context, Handler, report_error


def main() -> int:
    """Runs the handler. Returns 1 if the handler fails."""
    parser = argparse.ArgumentParser(prog="python -m orchestrator", description=__doc__)
    parser.add_argument("entrypoint", help="file that defines handler(event, context)")
    parser.add_argument("--params", default="{}", help="parameters of the run as a JSON object")
    parser.add_argument("--payload", help="file with the body of a webhook request")
    options = parser.parse_args()
    try:
        event: Dict[str, Any] = {"params": json.loads(options.params), "payload": None}
    except ValueError as error:
        parser.error(f"--params is not JSON: {error}")
    if options.payload is not None:
        with open(options.payload, "rb") as file:
            event["payload"] = {"headers": {}, "body": file.read()}
    sys.path[0] = os.path.dirname(os.path.abspath(options.entrypoint))
    try:
        Handler(options.entrypoint).call(event, Context(None, None))
    except Exception as error:
        report_error(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
