"""Forwards a script's output in chunks, with backpressure from the runtime."""

from __future__ import annotations

import os
import select
from typing import Callable, Dict

from wire.channel import Channel
from wire.frames import STDERR, STDOUT

_READ_BYTES = 64 * 1024


class Output:
    """The read ends of a run's two output pipes, which do not block."""

    def __init__(
        self,
        channel: Channel,
        stdout: int,
        stderr: int,
        on_stderr: Callable[[bytes], None],
        is_merged: bool,
    ) -> None:
        """@param is_merged whether the script's standard error goes to its standard output"""
        self._channel = channel
        self._kinds: Dict[int, bytes] = {stdout: STDOUT, stderr: STDERR}
        self._polled: Dict[int, bytes] = {}
        self._on_stderr = on_stderr
        self._is_merged = is_merged
        # Whether output is discarded.
        self.is_muted = False

    def poll_with(self, poller: "select.poll") -> None:
        """Registers the pipes to read from. While the channel is full, no pipes are registered."""
        wanted = {} if self._channel.full else self._kinds
        if wanted.keys() == self._polled.keys():
            return
        for fd in self._polled.keys() - wanted.keys():
            poller.unregister(fd)
        for fd in wanted.keys() - self._polled.keys():
            poller.register(fd, select.POLLIN)
        self._polled = dict(wanted)

    def pump(self, fd: int) -> bool:
        """Forwards one chunk. Returns False if nothing was forwarded, or if `fd` is not one of the pipes."""
        kind = self._kinds.get(fd)
        if kind is None:
            return False
        try:
            data = os.read(fd, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            del self._kinds[fd]
            return False
        if self.is_muted:
            return True
        if kind == STDERR or self._is_merged:
            self._on_stderr(data)
        self._channel.send(kind, data)
        return True

    def drain(self, wait: Callable[[], None]) -> None:
        """Forwards the remaining output. Its size is limited, because all writers are dead.

        @param wait called after each chunk. Returns when the channel can accept the next chunk
        """
        for fd in list(self._kinds):
            while self._channel.open and self.pump(fd):
                wait()
