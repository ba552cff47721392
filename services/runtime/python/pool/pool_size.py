"""Decides how many spare supervisors are needed, and when to start them. Bursts of runs get more spares than single
runs."""

from __future__ import annotations

_BURST_SECONDS = 0.1
_QUIET_SECONDS = 2.0
# The delay before the next spare starts. An immediate start would compete with the run for processors.
_DELAY_SECONDS = 0.05


class PoolSize:
    """The number of spares. The number grows by one with each run that closely follows another, and returns to the
    minimum after a few seconds without runs."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = max(least, most)
        self._taken_at = float("-inf")
        self._due_at = float("-inf")
        self.wanted = least

    def taken(self, now: float) -> None:
        """Records that a run has taken a spare.

        @param now the time of a monotonic clock, in seconds
        """
        if now - self._taken_at < _BURST_SECONDS:
            self.wanted = min(self.wanted + 1, self._most)
        self._taken_at = now
        self._due_at = now if self.wanted > self._least else now + _DELAY_SECONDS

    def is_due(self, now: float) -> bool:
        """Whether missing spares should be started now."""
        return now >= self._due_at

    def is_quiet(self, now: float) -> bool:
        """Whether no run has started for a few seconds, so that surplus spares can exit."""
        return now - self._taken_at >= _QUIET_SECONDS

    def wait_ms(self, now: float, spares: int) -> "float | None":
        """The time until `is_due` or `is_quiet` may change. None if neither can change without a new run."""
        if not self.is_due(now):
            return (self._due_at - now) * 1000
        if self.is_quiet(now) or max(self.wanted, spares) == self._least:
            return None
        return max(0.0, (self._taken_at + _QUIET_SECONDS - now) * 1000)

    def shrink(self, now: float) -> None:
        """Returns to the minimum number when no run has started for a few seconds."""
        if self.is_quiet(now):
            self.wanted = self._least
