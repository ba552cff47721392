"""The system call filter denies calls that no script needs and that past kernel attacks used.

The filter is a deny list, so that unknown programs keep working. Denied calls fail with EPERM, as for an ordinary user.
clone3 fails with ENOSYS, so that the C library uses clone instead, because a filter cannot see the flags of clone3.
Namespaces inside a run are denied, because they grant capabilities.
"""

from __future__ import annotations

import os
import struct
from errno import EAFNOSUPPORT, ENOPROTOOPT, ENOSYS, EPERM, EPROTONOSUPPORT
from typing import Dict, List, Optional, Sequence, Tuple

_X86_64, _ARM64 = 0, 1
_MACHINES = {"x86_64": _X86_64, "aarch64": _ARM64}
_AUDIT_ARCH = (0xC000003E, 0xC00000B7)
_X32_BIT = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO, _NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16

# The denied calls with their numbers on x86-64 and arm64. None means that the call does not exist there.
_DENIED: Dict[str, Tuple[Optional[int], Optional[int]]] = {
    # Access to other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Frequently attacked kernel interfaces
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "memfd_secret": (447, 447),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "_sysctl": (156, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    # Namespaces, mounts, and ways to bypass paths
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # Machine administration
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "get_kernel_syms": (177, None),
    "query_module": (178, None),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
}
# Calls that create memory without mapping it in a process. Only a control group counts such memory.
_UNCOUNTED_MEMORY: Dict[str, Tuple[Optional[int], Optional[int]]] = {
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "msgget": (68, 186),
}
_CLONE3 = 435
_CLONE = (56, 220)
_UNSHARE = (272, 97)
_PRLIMIT64 = (302, 261)
_IOCTL = (16, 29)
_SOCKET = (41, 198)
_LISTEN = (50, 201)
_SETSOCKOPT = (54, 208)

_NEW_NAMESPACE = 0x7E020000
_NEW_TIME_NAMESPACE = 0x80
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_LOCAL_FAMILIES = (1, 16)  # Unix, netlink
_INTERNET_FAMILIES = (2, 10)  # IPv4, IPv6
_IP_OPTIONS, _IP_LOCAL_PORT_RANGE = 0, 51
# The default protocol, ICMP, TCP, UDP, ICMPv6, and raw IP. Landlock's rules for TCP ports do not cover MPTCP, SCTP and
# SMC.
_PROTOCOLS = (0, 1, 6, 17, 58, 255)


def build_filter(machine: str, memory_is_counted: bool) -> Optional[bytes]:
    """Returns the program for a machine, as named by `uname`, or None for an unknown machine.

    @param memory_is_counted whether memory that no process maps counts against the run's limit
    """
    arch = _MACHINES.get(machine)
    if arch is None:
        return None
    program = _beginning(arch)
    program += _unless_bits(_CLONE[arch], _NEW_NAMESPACE)
    program += _unless_bits(_UNSHARE[arch], _NEW_NAMESPACE | _NEW_TIME_NAMESPACE)
    program += _only(_PRLIMIT64[arch], 0, [0], EPERM)
    program += _call(_SOCKET[arch], _sockets())
    program += _never(_IOCTL[arch], 1, [_TIOCSTI, _TIOCLINUX, _TIOCSETD])
    program += _call(_CLONE3, [_refusal(ENOSYS)])
    denied = dict(_DENIED)
    if not memory_is_counted:
        denied.update(_UNCOUNTED_MEMORY)
    for numbers in denied.values():
        number = numbers[arch]
        if number is not None:
            program += _call(number, [_refusal(EPERM)])
    return b"".join([*program, _answer(_ALLOW)])


def build_own_filter(memory_is_counted: bool) -> Optional[bytes]:
    """Returns the filter for this machine."""
    return build_filter(os.uname().machine, memory_is_counted)


def build_listen_filter() -> Optional[bytes]:
    """Returns the filter that passes each listen(2) call on this machine to the supervisor. The filter also denies a
    socket option that controls which ports the kernel chooses, because the supervisor relies on this choice."""
    arch = _MACHINES.get(os.uname().machine)
    if arch is None:
        return None
    program = _beginning(arch)
    program += _call(_LISTEN[arch], [_answer(_NOTIFY)])
    program += _call(_SETSOCKOPT[arch], _without_port_range())
    return b"".join([*program, _answer(_ALLOW)])


def _without_port_range() -> List[bytes]:
    """Returns the part of the filter for setsockopt(2). It responds like a kernel without the option."""
    return [
        _argument(1),
        _instruction(_EQUAL, _IP_OPTIONS, yes=1),
        _answer(_ALLOW),
        _argument(2),
        _instruction(_EQUAL, _IP_LOCAL_PORT_RANGE, no=1),
        _refusal(ENOPROTOOPT),
        _answer(_ALLOW),
    ]


def _beginning(arch: int) -> List[bytes]:
    """Loads the system call number. Denies calls for other architectures."""
    program = [
        _instruction(_LOAD, _ARCH),
        _instruction(_EQUAL, _AUDIT_ARCH[arch], yes=1),
        _answer(_KILL_PROCESS),
        _instruction(_LOAD, _NUMBER),
    ]
    if arch == _X86_64:
        program += [_instruction(_AT_LEAST, _X32_BIT, no=1), _refusal(ENOSYS)]
    return program


def _sockets() -> List[bytes]:
    """Returns the part of the filter for socket(2). It permits some address families, and some protocols of the
    internet families."""
    body = [_argument(0)]
    for family in _LOCAL_FAMILIES:
        body += [_instruction(_EQUAL, family, no=1), _answer(_ALLOW)]
    for above, family in enumerate(reversed(_INTERNET_FAMILIES)):
        body.insert(len(body) - above, _instruction(_EQUAL, family, yes=1 + above))
    body += [_refusal(EAFNOSUPPORT), _argument(2)]
    for protocol in _PROTOCOLS:
        body += [_instruction(_EQUAL, protocol, no=1), _answer(_ALLOW)]
    return [*body, _refusal(EPROTONOSUPPORT)]


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _answer(action: int) -> bytes:
    return _instruction(_RETURN, action)


def _refusal(error: int) -> bytes:
    return _answer(_ERRNO | error)


def _call(number: int, body: Sequence[bytes]) -> List[bytes]:
    """Returns the instructions for one call, which always end in a return."""
    return [_instruction(_EQUAL, number, no=len(body)), *body]


def _argument(index: int) -> bytes:
    # Loads the lower half of the argument on these little-endian machines. The kernel ignores the upper half.
    return _instruction(_LOAD, _ARGUMENTS + 8 * index)


def _unless_bits(number: int, bits: int) -> List[bytes]:
    refused = _instruction(_ANY_BIT, bits, no=1)
    return _call(number, [_argument(0), refused, _refusal(EPERM), _answer(_ALLOW)])


def _only(number: int, index: int, allowed: Sequence[int], error: int) -> List[bytes]:
    body = [_argument(index)]
    for value in allowed:
        body += [_instruction(_EQUAL, value, no=1), _answer(_ALLOW)]
    return _call(number, [*body, _refusal(error)])


def _never(number: int, index: int, refused: Sequence[int]) -> List[bytes]:
    body = [_argument(index)]
    for value in refused:
        body += [_instruction(_EQUAL, value, no=1), _refusal(EPERM)]
    return _call(number, [*body, _answer(_ALLOW)])
