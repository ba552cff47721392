"""System calls that Python has no function for (Linux, x86-64 and arm64).

If the interpreter was built without ctypes, `AVAILABLE` is false and only Python's own functions are used. All
functions raise an OSError that names the call.
"""

from __future__ import annotations

import os
import struct
from typing import Callable, Optional, Union

try:
    import ctypes

    _libc = ctypes.CDLL(None, use_errno=True)
    AVAILABLE = True
except (ImportError, OSError):
    AVAILABLE = False

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2

CAP_CHANGE_USER = 1 << 6 | 1 << 7
# The capabilities that root needs to contain runs and to clean up after them.
CAPS_OF_LAUNCHER = sum(
    1 << number
    for number in (
        0,  # CAP_CHOWN: give files to a script's user
        1,  # CAP_DAC_OVERRIDE: read and remove scripts' leftover files
        3,  # CAP_FOWNER: change modes of scripts' leftover files
        5,  # CAP_KILL: signal scripts' processes
        6,  # CAP_SETGID
        7,  # CAP_SETUID: become a script's user
        8,  # CAP_SETPCAP: limit the capabilities of runs
        18,  # CAP_SYS_CHROOT: join a mount namespace
        19,  # CAP_SYS_PTRACE: measure scripts' processes
        21,  # CAP_SYS_ADMIN: namespaces, mounts, control groups
        24,  # CAP_SYS_RESOURCE: set limits above its own
        31,  # CAP_SETFCAP: map root into a user namespace
        40,  # CAP_CHECKPOINT_RESTORE: choose process numbers
    )
)

_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG = 1, 2
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4

_SECCOMP_MODE_FILTER = 2
_SYS_SECCOMP = 317 if os.uname().machine == "x86_64" else 277
_SECCOMP_SET_MODE_FILTER = 1
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_RECEIVE_CALL, _ANSWER_CALL = 0xC0502100, 0xC0182101
_SYS_SETRESUID, _SYS_SETRESGID = (117, 119) if os.uname().machine == "x86_64" else (147, 149)
_SYS_PIDFD_OPEN, _SYS_PIDFD_GETFD = 434, 438
_FILTER_INSTRUCTION_BYTES = 8

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_ATTR_READ_ONLY = 0x1
_ATTR_NOSUID_NODEV = 0x2 | 0x4
_SYS_MOUNT_SETATTR = 442
_RENAME_NO_REPLACE = 1
_SYS_RENAMEAT2 = 316 if os.uname().machine == "x86_64" else 276
_SYS_PIVOT_ROOT = 155 if os.uname().machine == "x86_64" else 41
_CAPABILITY_VERSION_3 = 0x20080522

# Packs arguments as bytes. ctypes arrays would create types in a script's process, which copies each memory page that
# it changes.
_MOUNT_ATTRIBUTES = struct.Struct("=QQQQ")
_CAPABILITY_HEADER = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
_CAPABILITY_SETS = struct.Struct("=IIIIII")


def _check(result: int, call: str) -> None:
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{call}: {os.strerror(error)}")


def _prctl(option: int, value: int, call: str) -> None:
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), call)


def syscall(name: str, number: int, *arguments: Union[int, bytes, None]) -> int:
    """Executes a system call by its number. A bytes argument is passed by address, and None as a null pointer."""
    words = [
        ctypes.c_char_p(argument) if isinstance(argument, bytes) else ctypes.c_long(argument or 0)
        for argument in arguments
    ]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    _check(result, name)
    return result


def die_with_parent(signal_number: int) -> None:
    """Makes the kernel send this process the signal when its parent dies."""
    _prctl(_PR_SET_PDEATHSIG, signal_number, "prctl(PR_SET_PDEATHSIG)")


def set_dumpable(dumpable: bool) -> None:
    """Sets whether other processes of the same user can trace and read this process."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable), "prctl(PR_SET_DUMPABLE)")


def become_subreaper() -> None:
    """Makes orphaned descendants children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "prctl(PR_SET_CHILD_SUBREAPER)")


def set_no_new_privileges() -> None:
    """Prevents programs that are executed from now on from gaining privileges (setuid, file capabilities)."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "prctl(PR_SET_NO_NEW_PRIVS)")


class Filter:
    """A classic BPF program in the kernel's layout."""

    def __init__(self, program: bytes) -> None:
        count = len(program) // _FILTER_INSTRUCTION_BYTES
        self._instructions = ctypes.create_string_buffer(program, len(program))
        address = ctypes.addressof(self._instructions)
        self.described = struct.pack("=H6xQ", count, address)


def filter_system_calls(program: Filter) -> None:
    """Applies a filter to this process and its descendants. Requires no_new_privs."""
    mode = ctypes.c_ulong(_SECCOMP_MODE_FILTER)
    _check(_libc.prctl(_PR_SET_SECCOMP, mode, program.described, 0, 0), "prctl(PR_SET_SECCOMP)")


def hear_system_calls(program: Filter) -> int:
    """Applies a filter like `filter_system_calls`, except that this filter can pass calls to another process (Linux
    5.19).

    @returns the descriptor from which the other process receives these calls
    """
    flags = _NEW_LISTENER | _WAIT_KILLABLE
    return syscall("seccomp", _SYS_SECCOMP, _SECCOMP_SET_MODE_FILTER, flags, program.described)


def receive_call(listener: int, size: int) -> bytes:
    """Receives the next call that a filter has passed on, as a `seccomp_notif` of the given size."""
    request = ctypes.create_string_buffer(size)
    _check(_libc.ioctl(listener, ctypes.c_ulong(_RECEIVE_CALL), request), "SECCOMP_IOCTL_NOTIF_RECV")
    return request.raw


def answer_call(listener: int, answer: bytes) -> None:
    """Responds to a call that a filter has passed on.

    @param answer a `seccomp_notif_resp`
    """
    _check(_libc.ioctl(listener, ctypes.c_ulong(_ANSWER_CALL), answer), "SECCOMP_IOCTL_NOTIF_SEND")


def copy_descriptor(process: int, descriptor: int) -> int:
    """Duplicates a descriptor of another process into this process."""
    handle = syscall("pidfd_open", _SYS_PIDFD_OPEN, process, 0)
    try:
        return syscall("pidfd_getfd", _SYS_PIDFD_GETFD, handle, descriptor, 0)
    finally:
        os.close(handle)


def act_as(user: int, action: Callable[[], object]) -> None:
    """Executes an action as the given user, with the group of the same ID. Then changes back to root."""
    group = os.getegid()
    # The change of user resets this setting.
    dying = ctypes.c_int()
    _check(_libc.prctl(_PR_GET_PDEATHSIG, ctypes.byref(dying), 0, 0, 0), "prctl(PR_GET_PDEATHSIG)")
    syscall("setresgid", _SYS_SETRESGID, -1, user, -1)
    syscall("setresuid", _SYS_SETRESUID, -1, user, -1)
    try:
        action()
    finally:
        syscall("setresuid", _SYS_SETRESUID, -1, 0, -1)
        syscall("setresgid", _SYS_SETRESGID, -1, group, -1)
        die_with_parent(dying.value)


def bound_capabilities() -> None:
    """Denies capabilities to programs that are executed from now on, even if they run as root."""
    capability = 0
    while _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) == 0:
        capability += 1
    _libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(_PR_CAP_AMBIENT_CLEAR_ALL), 0, 0, 0)


def drop_capabilities(kept: int = 0) -> None:
    """Drops this process's capabilities permanently.

    @param kept the bits of capabilities to keep until this process changes its user
    """
    sets = _CAPABILITY_SETS.pack(kept, kept, 0, 0, 0, 0)
    _check(_libc.capset(_CAPABILITY_HEADER, sets), "capset")


def keep_capabilities(kept: int) -> None:
    """Drops all capabilities except `kept` permanently, including for programs that this process executes.

    @param kept the bits of capabilities to keep. Capabilities that this process lacks are ignored
    """
    for capability in range(64):
        if not kept >> capability & 1:
            # The kernel refuses this call if a container has already dropped the capability, or if the number is above
            # the last capability.
            _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    sets = ctypes.create_string_buffer(_CAPABILITY_SETS.size)
    _check(_libc.capget(_CAPABILITY_HEADER, sets), "capget")
    _, low, _, _, high, _ = _CAPABILITY_SETS.unpack(sets.raw)
    low, high = low & kept, high & kept >> 32
    _check(
        _libc.capset(_CAPABILITY_HEADER, _CAPABILITY_SETS.pack(low, low, 0, high, high, 0)), "capset"
    )


def unshare(flags: int) -> None:
    """Moves this process to new namespaces of the given kinds."""
    _check(_libc.unshare(flags), "unshare")


def join_namespace(descriptor: int) -> None:
    """Moves this process to an existing namespace.

    @param descriptor an open file from /proc/{pid}/ns
    """
    _check(_libc.setns(descriptor, 0), "setns")


def mount(
    source: str, target: str, kind: Optional[str], flags: int, options: Optional[str] = None
) -> None:
    """Calls mount(2)."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        None if kind is None else kind.encode(),
        ctypes.c_ulong(flags),
        None if options is None else options.encode(),
    )
    _check(result, f"mount {target}")


def bind(source: str, target: str) -> None:
    """Bind-mounts `source`, and all mounts below it, at `target`."""
    mount(source, target, None, MS_BIND | MS_REC)


def make_tree_read_only(path: str) -> None:
    """Makes every mount at and below `path` read-only, nosuid and nodev (Linux 5.12)."""
    _set_attributes(path, _AT_RECURSIVE, _ATTR_READ_ONLY | _ATTR_NOSUID_NODEV, 0)


def set_mount_writable(path: str, writable: bool) -> None:
    """Makes one mount writable or read-only, without changing the mounts below it."""
    if writable:
        _set_attributes(path, 0, 0, _ATTR_READ_ONLY)
    else:
        _set_attributes(path, 0, _ATTR_READ_ONLY, 0)


def _set_attributes(path: str, flags: int, to_set: int, to_clear: int) -> None:
    attributes = _MOUNT_ATTRIBUTES.pack(to_set, to_clear, 0, 0)
    result = _libc.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(path),
        ctypes.c_uint(flags),
        attributes,
        ctypes.c_size_t(len(attributes)),
    )
    _check(result, "mount_setattr")


def enter_root(path: str) -> None:
    """Makes the mount `path` the root. The old root becomes unreachable."""
    os.chdir(path)
    # Mounts the old and the new root at the same path. The old root covers the new root until it is detached.
    _check(_libc.syscall(ctypes.c_long(_SYS_PIVOT_ROOT), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", MNT_DETACH), "umount2")
    os.chdir("/")


def rename_to_new(path: str, new: str) -> None:
    """Renames a file or folder to `new`, which must not exist."""
    paths = (_AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(new))
    syscall("renameat2", _SYS_RENAMEAT2, *paths, _RENAME_NO_REPLACE)


def keep_for_ever(value: object) -> None:
    """Keeps the object alive until the process exits, including during interpreter finalization."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))


def collect_again(container: object) -> None:
    """Makes the garbage collector track a container again after `gc.freeze`."""
    ctypes.pythonapi.PyObject_GC_UnTrack(ctypes.py_object(container))
    ctypes.pythonapi.PyObject_GC_Track(ctypes.py_object(container))
