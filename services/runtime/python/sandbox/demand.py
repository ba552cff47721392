"""How many spares are worth having: more while runs come in quick succession, few in quiet."""

from __future__ import annotations

_BURST_SECONDS = 0.1
_QUIET_SECONDS = 2.0


class Demand:
    """Grows by one with each run that follows closely, and falls back when none comes for a while."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = max(least, most)
        self._taken_at = float("-inf")
        self.wanted = least

    def taken(self, now: float) -> None:
        """A run has taken a spare. @param now in seconds of a monotonic clock"""
        if now - self._taken_at < _BURST_SECONDS:
            self.wanted = min(self.wanted + 1, self._most)
        self._taken_at = now

    def wait_ms(self, now: float) -> "float | None":
        """Until it is to be asked whether it has fallen; None where it cannot fall."""
        if self.wanted == self._least:
            return None
        return max(0.0, (self._taken_at + _QUIET_SECONDS - now) * 1000)

    def look(self, now: float) -> None:
        """Falls back in quiet."""
        if now - self._taken_at >= _QUIET_SECONDS:
            self.wanted = self._least
