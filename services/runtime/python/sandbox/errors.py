"""The one error that the other side is told about."""

from __future__ import annotations


class SandboxError(Exception):
    """The sandbox failed before the script executed; `stage` says where."""

    def __init__(self, stage: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.message = message
