"""A script's process that is ready, and waits for the word that it may execute."""

from __future__ import annotations

import os
import socket
import sys

from . import gate as gates


class Held:
    """What is between a script's process and its script."""

    def __init__(self, gate: socket.socket, stderr: int, status: int) -> None:
        """@param stderr what is to be its standard error
        @param status with which the process ends when nobody is there to give the word"""
        self._gate = gate
        self._stderr = stderr
        self._status = status

    def wait(self) -> None:
        """Returns when the script may execute. Never raises, since what an interpreter does next may
        pass over that, and execute the script without the word."""
        try:
            if self._gate.recv(1) == gates.GO:
                os.dup2(self._stderr, 2)
                return
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        os._exit(self._status)
