"""Sizes for people."""

from __future__ import annotations


def mebibytes(size_bytes: int) -> str:
    """The size with one decimal, rounded up so that it never appears below a limit that it exceeds.

    Always in MiB: error groups ignore the numbers of a message, but not its units."""
    tenths = -(-size_bytes * 10 // 1024**2)
    return f"{tenths / 10:.12g} MiB"
