"""Landlock rules for files and ports. A process sets such rules for itself permanently, without any privilege.

A run may only read and execute visible files, and write to writable files. It cannot trace a
process outside the sandbox. On newer kernels, it also cannot signal such a process or connect to the process's abstract
sockets. It can bind TCP sockets only to the ports in its script's settings.
"""

from __future__ import annotations

import os
import stat
import struct
from errno import ENOSYS, EOPNOTSUPP
from typing import Iterable, Iterator, List, NamedTuple, Sequence

from . import syscalls

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH, _NET_PORT = 1, 2
_BIND_TCP = 1
_PORTS_SINCE = 4
_MISSING = {
    ENOSYS: "needs Linux 6.7 with Landlock",
    EOPNOTSUPP: "Landlock is disabled; add `landlock` to the kernel parameter `lsm=`",
}

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE = 1 << 4 | 1 << 5
_MAKE_DEVICE = 1 << 6 | 1 << 11
_MAKE = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2

_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _REMOVE | _MAKE | _REFER | _TRUNCATE
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE


class Rules(NamedTuple):
    """Paths inside the process's file system. Missing paths are skipped."""

    readable: Sequence[str]
    writable: Sequence[str]
    hidden: Sequence[str] = ()
    # Folders whose existing files are writable, but in which no files may be created or removed.
    existing: Sequence[str] = ()


def abi_version() -> int:
    """Returns the kernel's Landlock version, starting with 1.

    @raises OSError without Landlock
    """
    return syscalls.syscall("landlock", _CREATE_RULESET, None, 0, _VERSION_FLAG)


def restrict(rules: Rules) -> None:
    """Restricts this process and its descendants. Requires no_new_privs."""
    abi = abi_version()
    handled = _READ | _WRITE | _MAKE_DEVICE | _IOCTL_DEVICE
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEVICE)):
        if abi < since:
            handled &= ~right
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if abi >= 6 else 0
    attributes = struct.pack("=QQQ", handled, 0, scopes)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = syscalls.syscall(
        "landlock_create_ruleset", _CREATE_RULESET, attributes, len(attributes), 0
    )
    try:
        for path in _pieces(rules.readable, rules.hidden):
            _allow(ruleset, path, _READ & handled)
        for path in rules.writable:
            _allow(ruleset, path, _WRITE & handled)
        for path in rules.existing:
            _allow(ruleset, path, _WRITE & _FILE_RIGHTS & handled)
        syscalls.syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def restrict_ports(ports: Sequence[int]) -> None:
    """Lets this process and its descendants bind TCP sockets only to these ports. Requires no_new_privs.

    @param ports the permitted ports, where 0 stands for a port that the kernel chooses
    """
    try:
        abi = abi_version()
    except OSError as error:
        raise OSError(error.errno, _MISSING.get(error.errno or 0, str(error))) from error
    if abi < _PORTS_SINCE:
        raise OSError(ENOSYS, "needs Linux 6.7 (Landlock 4, which added port rules)")
    # Includes this right, because rules without it would prevent moving files between folders.
    attributes = struct.pack("=QQ", _REFER, _BIND_TCP)
    ruleset = syscalls.syscall(
        "landlock_create_ruleset", _CREATE_RULESET, attributes, len(attributes), 0
    )
    try:
        _allow(ruleset, "/", _REFER)
        for port in ports:
            rule = struct.pack("=QQ", _BIND_TCP, port)
            syscalls.syscall("landlock_add_rule", _ADD_RULE, ruleset, _NET_PORT, rule, 0)
        syscalls.syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        # Paths that this process cannot reach need no rule.
        return
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, beneath)
        syscalls.syscall("landlock_add_rule", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(beneath)


def _pieces(paths: Iterable[str], hidden: Sequence[str]) -> Iterator[str]:
    """Replaces each path that contains hidden paths with the path's visible entries, because a rule cannot exclude part
    of a path."""
    for path in paths:
        if path in hidden:
            continue
        below: List[str] = [other for other in hidden if other.startswith(path.rstrip("/") + "/")]
        if not below:
            yield path
        elif os.path.isdir(path) and os.access(path, os.R_OK):
            inner = (os.path.join(path, name) for name in os.listdir(path))
            yield from _pieces((each for each in inner if not os.path.islink(each)), below)
