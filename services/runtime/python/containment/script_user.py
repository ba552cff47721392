"""Assigns a system user to each script if the platform runs as root. This user has no access to other scripts.

The user ID is a hash of the script's ID, in a range that neither user accounts nor containers use. A folder on this
host records the owner of each user ID. If two scripts have the same hash, the second script gets the next ID.
"""

from __future__ import annotations

import os

from kernel.digests import sha256

# The start of a range that systemd documents as unused.
FIRST_USER = 1_879_048_192
USERS = 2**27
_TRIES = 100


def user_of(owner: str, claims: str) -> int:
    """Returns the user and group ID of an owner. An owner always gets the same ID.

    @param claims a folder with one file per used ID, which contains the owner's name
    @raises OSError if the ID cannot be recorded
    """
    digest = sha256(owner.encode()).digest()
    start = int.from_bytes(digest[:8], "big")
    for step in range(_TRIES):
        number = FIRST_USER + (start + step) % USERS
        if _claim(os.path.join(claims, str(number)), owner.encode()):
            return number
    raise OSError(0, f"no free system user for {owner}")


def become(user: int) -> None:
    """Changes this process's user permanently, and drops supplementary groups. Requires the right to change users."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _claim(path: str, owner: bytes) -> bool:
    try:
        return _read(path) == owner
    except FileNotFoundError:
        pass
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    # Writes to a temporary name first, so that no process reads an incomplete file.
    whole = f"{path}.{os.getpid()}"
    _write(whole, owner)
    try:
        os.link(whole, path)
        return True
    except FileExistsError:
        return _read(path) == owner
    finally:
        os.unlink(whole)


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        return os.read(file, 1024)
    finally:
        os.close(file)


def _write(path: str, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(file, content)
    finally:
        os.close(file)
