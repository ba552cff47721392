"""The start gate, at which a contained script's process waits for GO. The process then executes a program or becomes
the script."""

from __future__ import annotations

import os
import socket
import sys
from typing import Dict, List, Optional

from wire import process_messages as messages


class StartGate:
    """Makes a script's process wait until the supervisor sends GO."""

    def __init__(self, gate: socket.socket, stderr: int, status: int) -> None:
        """@param stderr the descriptor that becomes standard error
        @param status the exit code if the supervisor exits before sending GO
        """
        self._gate = gate
        self._stderr = stderr
        self._status = status

    def wait(self) -> None:
        """Waits for GO. Exits if the supervisor has exited. Never raises, so that no script executes without GO."""
        try:
            if self._gate.recv(1) == messages.GO:
                os.dup2(self._stderr, 2)
                return
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        os._exit(self._status)


class BecomeScript(BaseException):
    """Raised to unwind the stack of a script's process, so that the interpreter itself then executes the script.

    The process must wait at `gate` before it executes untrusted code.
    """

    def __init__(self, argv: List[bytes], environment: Dict[bytes, bytes], gate: StartGate) -> None:
        super().__init__()
        self.argv = argv
        self.environment = environment
        self.gate = gate


class ends_process:
    """Exits the process with code `status` at the end of the block. An error is printed, and also exits the process.
    BecomeScript does not end the process."""

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
