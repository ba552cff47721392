"""Describes how a run ended: exit code, signal, reason and usage. If there are several reasons, the first one is
used."""

from __future__ import annotations

import signal
from typing import Dict, Mapping, Optional, Tuple

from containment.sizes import mebibytes
from containment.usage_limits import CPU_LIMIT, MEMORY_LIMIT, UsageMonitor, cpu_detail
from wire.run_spec import Limits, RunSpec

from .enclosure import Usage

_TAIL_BYTES = 4096


class ExitReason:
    """Collects facts about the end of a run for the EXIT frame."""

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._reason: Optional[str] = None
        self._detail: Optional[str] = None
        self._decided = False
        self._exit_code: Optional[int] = None
        self._signal: Optional[int] = None
        # The init's CPU time up to the script's exit.
        self.own_cpu_seconds = 0.0
        self._stderr_tail = b""
        self.failure: Optional[Mapping[str, object]] = None

    def because(self, reason: Optional[str], detail: Optional[str] = None) -> None:
        """Sets the reason why the sandbox stops the run, unless a reason is already set."""
        if not self._decided:
            self._decided, self._reason, self._detail = True, reason, detail

    @property
    def is_decided(self) -> bool:
        """Whether a limit was reached, or the sandbox is stopping the run."""
        return self._decided

    def failed(self, report: Mapping[str, object]) -> None:
        """Records that the script could not be executed.

        @param report contains `stage` and `message`
        """
        if self.failure is None:
            self.failure = report

    def script_ended(self, report: Mapping[str, object]) -> None:
        """Records the init's report about the script's main process."""
        self._exit_code = _number(report["exit_code"])
        self._signal = _number(report["signal"])
        self.own_cpu_seconds = float(str(report["own_cpu_seconds"]))

    def remember_stderr(self, data: bytes) -> None:
        """Keeps the end of the script's standard error."""
        self._stderr_tail = (self._stderr_tail + data)[-_TAIL_BYTES:]

    def describe(
        self, monitor: Optional[UsageMonitor], usage: Usage, seconds: float
    ) -> Dict[str, object]:
        """Returns the content of the EXIT frame. All processes of the run must have been reaped.

        @param seconds the time from the start of the script to the exit of its last process
        """
        cpu_seconds = usage.cpu_seconds
        if monitor is not None:
            cpu_seconds = max(cpu_seconds, monitor.totals.cpu_seconds)
            late = monitor.out_of_memory()
            if late is not None:
                self.because(late.reason, late.detail)
        self._judge(cpu_seconds)
        self._explain_refusals(monitor)
        ended_by = self._signal
        if self._exit_code is None and ended_by is None:
            # The init was killed, so the kernel has also killed the script.
            ended_by = signal.SIGKILL
            self.because(None, "the run's processes were killed by another process")
        return {
            "exit_code": self._exit_code,
            "signal": None if ended_by is None else _signal_name(ended_by),
            "reason": self._reason,
            "detail": self._detail,
            "usage": {
                "seconds": round(seconds, 3),
                "cpu_seconds": round(cpu_seconds, 3),
                "max_memory_bytes": _peak(monitor) or usage.max_memory_bytes,
                "max_threads": max(1, 0 if monitor is None else monitor.max_threads),
            },
        }

    def _judge(self, cpu_seconds: float) -> None:
        """Finds the limit that the kernel or Python enforced."""
        limits = self._spec.limits
        limit = limits.cpu_seconds
        warned = self._signal == signal.SIGXCPU
        killed = self._signal == signal.SIGKILL and limit is not None and cpu_seconds >= limit
        if limit is not None and (warned or killed):
            # The reported CPU time may be slightly below the limit, because the kernel enforces the limit with a more
            # precise clock.
            self.because(CPU_LIMIT, cpu_detail(limit, max(limit, cpu_seconds)))
        if self._signal == signal.SIGXFSZ and limits.disk_bytes is not None:
            self.because(None, f"a file reached the disk limit of {mebibytes(limits.disk_bytes)}")
        if self._exit_code == 1:
            reason, detail = _limit_in_traceback(self._stderr_tail, limits)
            if detail is not None:
                self.because(reason, detail)

    def _explain_refusals(self, monitor: Optional[UsageMonitor]) -> None:
        """Reports refused processes, unless the script succeeded."""
        refused = 0 if monitor is None or self._exit_code == 0 else monitor.refused_processes()
        if refused > 0:
            limit = self._spec.limits.processes
            self.because(
                None, f"limit of {limit} processes and threads reached: {refused} more rejected"
            )


def _peak(monitor: Optional[UsageMonitor]) -> int:
    return 0 if monitor is None else monitor.max_memory_bytes


def _number(value: object) -> Optional[int]:
    return None if value is None else int(str(value))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _limit_in_traceback(stderr: bytes, limits: Limits) -> Tuple[Optional[str], Optional[str]]:
    """Finds the limit that made a script fail. The kernel does not report such limits, so the error in the last line of
    the traceback is used.

    @param stderr the last bytes of standard error
    @returns the contract's reason, if any, and a sentence. Both are None for any other error
    """
    last = stderr.rstrip().rsplit(b"\n", 1)[-1]
    name = last.split(b":", 1)[0].rsplit(b".", 1)[-1]
    if name.endswith(b"MemoryError"):
        # Also matches derived classes.
        return MEMORY_LIMIT, _memory_detail(limits)
    if b"[Errno 24]" in last and limits.open_files is not None:
        return None, f"limit of {limits.open_files} open files reached"
    if b"[Errno 27]" in last and limits.disk_bytes is not None:
        return None, f"a file reached the disk limit of {mebibytes(limits.disk_bytes)}"
    if name == b"BlockingIOError" or b"can't start new thread" in last:
        if limits.processes is not None:
            return None, f"limit of {limits.processes} processes and threads reached"
    return None, None


def _memory_detail(limits: Limits) -> str:
    sentence = "the script exited with an uncaught MemoryError"
    if limits.address_space_bytes is None:
        return sentence
    limit = mebibytes(limits.address_space_bytes)
    return f"{sentence}: the address space of a process is limited to {limit}"
