"""How many spares are worth having, and when: more while runs come in quick succession, few in quiet."""

from __future__ import annotations

_BURST_SECONDS = 0.1
_QUIET_SECONDS = 2.0
# Making a spare would compete with the run that took the last one for the processors.
_REST_SECONDS = 0.05


class Demand:
    """Grows by one with each run that follows closely, and falls back when none comes for a while."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = max(least, most)
        self._taken_at = float("-inf")
        self._made_at = float("-inf")
        self.wanted = least

    def taken(self, now: float) -> None:
        """A run has taken a spare. @param now in seconds of a monotonic clock"""
        if now - self._taken_at < _BURST_SECONDS:
            self.wanted = min(self.wanted + 1, self._most)
        self._taken_at = now
        self._made_at = now if self.wanted > self._least else now + _REST_SECONDS

    def is_due(self, now: float) -> bool:
        """Whether spares that are missing are to be made now, though nobody waits for one."""
        return now >= self._made_at

    def is_quiet(self, now: float) -> bool:
        """Whether no run has come for a while: what is too much may go."""
        return now - self._taken_at >= _QUIET_SECONDS

    def wait_ms(self, now: float, spares: int) -> "float | None":
        """Until missing spares are due, or it is to be asked whether the demand has fallen; None where
        neither will be."""
        if not self.is_due(now):
            return (self._made_at - now) * 1000
        if self.is_quiet(now) or max(self.wanted, spares) == self._least:
            return None
        return max(0.0, (self._taken_at + _QUIET_SECONDS - now) * 1000)

    def look(self, now: float) -> None:
        """Falls back in quiet."""
        if self.is_quiet(now):
            self.wanted = self._least
