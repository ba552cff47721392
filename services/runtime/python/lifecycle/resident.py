"""Supervises a resident process: a script's process that executes one run after another.

All processes of the script are suspended between runs, so they use no processor time and write no output. Each run has
its own limits, output, usage and connection to the platform. A run that exceeds a limit ends the process.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
import time
from typing import BinaryIO, List, Sequence

from wire import process_messages as messages
from wire.frames import EXIT, READY, SPEC, SandboxError
from wire.run_spec import RunSpec, parse_spec

from .enclosure import Usage
from .init import PAUSE, RESUME
from .supervisor import NEVER, Supervisor

_PAUSE_SECONDS = 5.0
# An idle process has no deadline, but `poll` does not accept an infinite wait.
_LONGEST_WAIT_MS = 3_600_000.0
# The size of the message that reports the end of a run: one byte with the exit code.
_STATUS_BYTES = 1
_ORDER = b"r"


class ResidentSupervisor(Supervisor):
    """Executes runs until the process exits or the runtime closes the channel."""

    def _begin(self, spec: RunSpec) -> None:
        super()._begin(spec)
        self._status = -1
        self._pause_by = NEVER
        self._is_idle = False

    def _for_script(self) -> Sequence[int]:
        # The CPU time that the process has used for earlier runs.
        self._past_cpu_seconds = 0.0
        self._orders, self._far_orders = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._orders.setblocking(False)
        self._register(self._orders.fileno(), self._on_status)
        return [self._far_orders.fileno()]

    def _report_ready(self) -> None:
        # Closes this process's copy of the far end, so that the connection breaks when the resident process exits.
        self._far_orders.close()
        super()._report_ready()

    # --- messages ------------------------------------------------------------------------------

    def _on_frame(self, kind: bytes, payload: bytes) -> None:
        if not self._is_idle:
            super()._on_frame(kind, payload)
        elif kind == SPEC:
            self._next(parse_spec(payload))
        # Ignores other frames, which the runtime sent before it learned that the run had ended.

    def _on_status(self) -> None:
        try:
            status = self._orders.recv(_STATUS_BYTES)
        except OSError:
            status = b""
        if not status:
            # The process is exiting and has closed the connection. Its init will report the exit.
            self._poller.unregister(self._orders)
        elif self._monitor is not None and self._status < 0:
            self._status = status[0]
            self._end_run()

    def _on_init(self) -> None:
        message = messages.receive(self._enclosure.control)
        if message.kind != messages.PAUSED:
            self._finish()
        elif self._pause_by != NEVER:
            self._finish_run()

    # --- the start of a run --------------------------------------------------------------------

    def _next(self, spec: RunSpec) -> None:
        self._begin(spec)
        if self._broker is not None and spec.sdk is not None:
            self._broker.serve_run(spec.sdk)
        self._channel.send_json(READY, self._ready)

    def _go(self) -> None:
        if self._monitor is not None or not self._script:
            return
        if self._output.is_muted:
            self._output.drain(lambda: None)
            self._output.is_muted = False
            self._start_clock(self._past_cpu_seconds)
            self._send_order()
            self._signal_init(RESUME)
        else:
            super()._go()
            self._send_order()

    def _send_order(self) -> None:
        """Sends the run to the process. The run's data is in files, because sending descriptors never blocks."""
        spec = self._spec
        workspace = os.fsencode(str(self._ready["workspace"]))
        variables = {**spec.env, **{name: workspace for name in spec.workspace_env}}
        order = {
            "variables": {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()},
            "wall_clock_seconds": spec.limits.wall_clock_seconds,
        }
        files: List[BinaryIO] = []
        try:
            files.append(_file_of(json.dumps(order).encode()))
            if spec.resident is not None and spec.resident.payload is not None:
                files.append(_open_payload(spec.resident.payload))
            socket.send_fds(self._orders, [_ORDER], [file.fileno() for file in files])
        except SandboxError as error:
            self._exit_reason.failed({"stage": error.stage, "message": error.message})
            self._finish()
        except OSError:
            # The process has exited. Its init reports the details.
            pass
        finally:
            for file in files:
                file.close()

    # --- the end of a run ----------------------------------------------------------------------

    def _end_run(self) -> None:
        """Called when the handler has returned."""
        if self._spec.resident is None or self._spec.resident.is_last:
            self._exit_with_status()
            return
        self._pause_by = time.monotonic() + _PAUSE_SECONDS
        self._signal_init(PAUSE)

    def _finish_run(self) -> None:
        """Reports the end of the run. All processes are stopped, so the remaining output is limited."""
        monitor, reason = self._monitor, self._exit_reason
        if monitor is None or self._over:
            return
        breach = monitor.sample()
        if breach is not None:
            self._kill(breach.reason, breach.detail)
        self._output.drain(lambda: self._flush_channel(everything=False))
        reason.script_ended({"exit_code": self._status, "signal": None, "own_cpu_seconds": 0})
        seconds = time.monotonic() - (self._started_at or 0)
        ending = reason.describe(monitor, Usage(0.0, 0), seconds)
        if self._over or reason.is_decided or monitor.refused_processes() > 0:
            self._finish()
            return
        self._past_cpu_seconds += monitor.totals.cpu_seconds
        self._begin(self._spec)
        self._is_idle = self._output.is_muted = True
        self._lease_ends_at = NEVER
        self._channel.send_json(EXIT, {**ending, "reusable": True})

    def _exit_with_status(self) -> None:
        self._exit_reason.script_ended(
            {"exit_code": self._status, "signal": None, "own_cpu_seconds": 0}
        )
        self._finish()

    def _check_deadlines(self, now: float) -> None:
        if now >= self._pause_by:
            self._exit_with_status()
            return
        super()._check_deadlines(now)

    def _wait_ms(self) -> float:
        pause_ms = max(0.0, (self._pause_by - time.monotonic()) * 1000)
        return min(super()._wait_ms(), pause_ms, _LONGEST_WAIT_MS)

    def _usage(self) -> Usage:
        usage = super()._usage()
        return usage._replace(cpu_seconds=max(0.0, usage.cpu_seconds - self._past_cpu_seconds))

    def _signal_init(self, number: signal.Signals) -> None:
        try:
            os.kill(self._enclosure.init, number)
        except ProcessLookupError:
            self._finish()


def _open_payload(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise SandboxError("payload", str(error.strerror)) from error


def _file_of(content: bytes) -> BinaryIO:
    file: BinaryIO
    if hasattr(os, "memfd_create"):
        file = open(os.memfd_create("order"), "w+b")
    else:
        file = tempfile.TemporaryFile()  # type: ignore[assignment]
    file.write(content)
    file.seek(0)
    return file
