"""How a forked process leaves the code of the sandbox: it ends, or it becomes the script."""

from __future__ import annotations

import os
import sys
from typing import Dict, List, Optional

from .held import Held


class BecomeScript(BaseException):
    """Unwinds the script's process, so that its interpreter executes the script as its own. That is to
    wait for `held` before it executes anything that is not the platform's."""

    def __init__(self, argv: List[bytes], environment: Dict[bytes, bytes], held: Held) -> None:
        super().__init__()
        self.argv = argv
        self.environment = environment
        self.held = held


class ends_process:
    """Whatever happens inside, the process ends with it, unless it becomes the script.

    `status` is its exit code, also after an error, which is printed.
    """

    def __init__(self, status: int) -> None:
        self.status = status

    def __enter__(self) -> "ends_process":
        return self

    def __exit__(self, _kind: object, error: Optional[BaseException], _trace: object) -> bool:
        if isinstance(error, BecomeScript):
            return False
        try:
            if error is not None:
                sys.excepthook(type(error), error, error.__traceback__)
        finally:
            os._exit(self.status)
