"""Formats sizes for messages."""

from __future__ import annotations


def mebibytes(size_bytes: int) -> str:
    """Returns the size in MiB with one decimal. The size is rounded up, so that it never appears below a limit that it
    exceeds. The unit never changes, because error groups ignore a message's numbers, but not its units."""
    tenths = -(-size_bytes * 10 // 1024**2)
    return f"{tenths / 10:.12g} MiB"
