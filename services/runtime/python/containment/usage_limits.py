"""Measures a run's processes and reports the limit that they exceed."""

from __future__ import annotations

import time
from typing import List, NamedTuple, Optional

from kernel import process_tree
from kernel.cgroups import Group
from kernel.process_tree import Process, Totals
from wire.run_spec import Limits

from .disk_quota import DiskQuota
from .sizes import mebibytes

_FIRST_INTERVAL_SECONDS = 0.03
_INTERVAL_SECONDS = 0.25
_SHORTEST_INTERVAL_SECONDS = 0.02
_REPORT_SECONDS = 1.0
_MEASURE_DISK_SECONDS = 0.01
# The assumed maximum rate at which a script allocates memory. It determines how often memory is sampled near the limit.
_GROWTH_BYTES_PER_SECOND = 2 * 1024**3
# How long a script may take to handle SIGXCPU.
_CPU_GRACE_SECONDS = 1.0

CPU_LIMIT = "cpu_limit"
MEMORY_LIMIT = "memory_limit"


class Breach(NamedTuple):
    """An exceeded limit. `reason` is None if the contract defines no reason for this limit."""

    reason: Optional[str]
    detail: str


class UsageMonitor:
    """Samples one run from the start of its script."""

    def __init__(
        self,
        limits: Limits,
        proc: Optional[int],
        init: int,
        disk: Optional[DiskQuota],
        group: Optional[Group],
        bounds: bool,
        past_cpu_seconds: float,
    ) -> None:
        """@param proc the /proc of the run's own PID namespace. If None, the host's /proc is searched
        @param init the host process ID of the run's init
        @param past_cpu_seconds the CPU time of processes that the init has reaped before this run
        @param bounds whether exceeding a sandbox limit stops the run, or is only reported
        """
        self._limits = limits
        self._bounds = bounds
        self._past_seconds = past_cpu_seconds
        self._private = proc is not None
        self._proc = process_tree.open_proc() if proc is None else proc
        self._init = 1 if proc is not None else init
        self._interval = _FIRST_INTERVAL_SECONDS
        self._reported_at = 0.0
        self.due_at = float("inf")
        self.totals = Totals(0.0, 0, 0, 0)
        self.max_memory_bytes = 0
        self.max_threads = 0
        self._disk = disk
        self._group = group

    def start(self, now: float) -> None:
        """Starts the samples. Call this function when the script may execute."""
        self.due_at = now + self._interval

    def sample(self) -> Optional[Breach]:
        """Takes a sample. Returns the exceeded limit that requires stopping the run, if any."""
        processes = self._processes()
        totals = process_tree.sum_up(processes, self._init)
        totals = totals._replace(cpu_seconds=totals.cpu_seconds - self._past_seconds)
        # Prevents the CPU time from decreasing when a process exits between two samples.
        totals = totals._replace(cpu_seconds=max(totals.cpu_seconds, self.totals.cpu_seconds))
        if self._over_memory(totals.memory_bytes):
            exact = process_tree.proportional_bytes(self._proc, processes, self._init)
            totals = totals._replace(memory_bytes=exact)
        breach = self.out_of_memory()
        if breach is None and self._bounds:
            breach = self._breach(totals) or self._disk_breach(processes)
        self.totals = totals
        self.max_memory_bytes = max(self.max_memory_bytes, totals.memory_bytes)
        self.max_threads = max(self.max_threads, totals.threads)
        self._interval = self._next_interval(totals.memory_bytes)
        self.due_at = time.monotonic() + self._interval
        return breach

    def out_of_memory(self) -> Optional[Breach]:
        """Whether the kernel has killed one of the run's processes because of the memory limit. Also valid after the
        run's end."""
        if self._group is None or not self._group.out_of_memory():
            return None
        # The control group reached its memory limit between two samples.
        self.max_memory_bytes = max(self.max_memory_bytes, self._limits.memory_bytes or 0)
        return Breach(
            MEMORY_LIMIT,
            f"{self._memory_exceeded()}: the kernel killed a process of the run",
        )

    def refused_processes(self) -> int:
        """The number of processes and threads that the kernel refused, or 0 if the kernel does not count them."""
        return 0 if self._group is None else self._group.refused_processes()

    def report_due(self, now: float) -> bool:
        """Whether the latest totals must be sent now. Totals are sent about once a second."""
        if now - self._reported_at < _REPORT_SECONDS:
            return False
        self._reported_at = now
        return True

    def _processes(self) -> List[Process]:
        processes = process_tree.list_processes(self._proc)
        if self._private:
            return processes
        own = [process for process in processes if process.pid == self._init]
        return own + process_tree.descendants(processes, self._init)

    def _breach(self, totals: Totals) -> Optional[Breach]:
        limits = self._limits
        if limits.cpu_seconds is not None:
            if totals.cpu_seconds > limits.cpu_seconds + _CPU_GRACE_SECONDS:
                return Breach(CPU_LIMIT, cpu_detail(limits.cpu_seconds, totals.cpu_seconds))
        if limits.processes is not None and totals.processes > limits.processes:
            return Breach(
                None,
                f"process limit of {limits.processes} exceeded: {totals.processes} processes",
            )
        return self._memory_breach(totals.memory_bytes)

    def _over_memory(self, used_bytes: int) -> bool:
        return self._limits.memory_bytes is not None and used_bytes > self._limits.memory_bytes

    def _memory_breach(self, used_bytes: int) -> Optional[Breach]:
        if not self._over_memory(used_bytes):
            return None
        return Breach(MEMORY_LIMIT, f"{self._memory_exceeded()}: {mebibytes(used_bytes)} used")

    def _memory_exceeded(self) -> str:
        return f"memory limit of {mebibytes(self._limits.memory_bytes or 0)} exceeded"

    def _disk_breach(self, processes: List[Process]) -> Optional[Breach]:
        if self._disk is None:
            return None
        detail = self._disk.check(
            _MEASURE_DISK_SECONDS, lambda: process_tree.open_folders(self._proc, processes)
        )
        return None if detail is None else Breach(None, detail)

    def _next_interval(self, used_bytes: int) -> float:
        interval = min(self._interval * 2, _INTERVAL_SECONDS)
        if self._limits.memory_bytes is not None:
            room = (self._limits.memory_bytes - used_bytes) / _GROWTH_BYTES_PER_SECOND
            interval = min(interval, max(room, _SHORTEST_INTERVAL_SECONDS))
        return interval


def cpu_detail(limit_seconds: float, used_seconds: float) -> str:
    """Returns the message for the run's log."""
    return f"CPU time limit of {limit_seconds:g} s exceeded: {used_seconds:.2f} s used"
