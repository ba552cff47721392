"""The layers of containment, in the order in which they are put on. A new one is added to LAYERS.

A layer may act at three points: in the supervisor before the init is forked and in that init
before the script's process is forked (both before it is known which run it will be), and in the
script's process before it executes. Which layers are there was found out once, by trying (see
probe.py): one that should be there and fails ends the preparation, so that no run is silently
less contained than its `ready` says.
"""

from __future__ import annotations

import math
import os
import resource
import signal
from errno import ENOSYS, EPERM
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from . import identity, kernel, landlock, mounts
from .errors import SandboxError
from .machine import NOT_NEEDED, Machine
from .seccomp import build_own_filter
from .spec import RunSpec

_RESERVED_PIDS = 300
_FILTER = build_own_filter(memory_is_counted=False)


class Run(NamedTuple):
    """What the layers need to know of a run: also its folders as the host sees them, and the
    number of the system user that it is to have."""

    spec: RunSpec
    machine: Machine
    root: str
    files: str
    tmp: str
    user: Optional[int]

    @property
    def workspace(self) -> str:
        """The workspace's path as the script sees it."""
        if self.has_own_root:
            return mounts.workspace_path(self.spec.script_id)
        return self.files

    @property
    def has_own_root(self) -> bool:
        """Whether paths are those of a root of its own."""
        return self.machine.has("mount_namespace")


class Spare:
    """What the layers need before the run is known: the folder on which its root is built.

    `proc` is a folder descriptor of the run's own /proc, once and where there is one.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.proc: Optional[int] = None


SpareStep = Callable[[Spare], None]
RunStep = Callable[[Run], None]


class Layer(NamedTuple):
    """One layer; `name` is stable and reported, `purpose` is for people."""

    name: str
    purpose: str
    in_supervisor: Optional[SpareStep] = None
    in_init: Optional[SpareStep] = None
    in_script: Optional[RunStep] = None


def active_layers(machine: Machine) -> List[Layer]:
    """The layers that this machine has, in order."""
    return [layer for layer in LAYERS if machine.has(layer.name)]


def describe_layers(machine: Machine) -> List[Dict[str, object]]:
    """All layers that matter here, for /system/info (type SandboxLayer in sandbox.ts)."""
    return [
        {
            "name": layer.name,
            "purpose": layer.purpose,
            "available": machine.has(layer.name),
            "detail": machine.missing.get(layer.name),
        }
        for layer in LAYERS
        if machine.missing.get(layer.name) != NOT_NEEDED
    ]


def contain_supervisor(machine: Machine, spare: Spare) -> None:
    """@raises SandboxError with the layer's name as stage, as the next two; with stage `layers`
    where one that is required is missing."""
    if machine.lacking and not machine.choices.lenient:
        lacking = "; ".join(machine.lacking)
        raise SandboxError("layers", f"{lacking}. ORCH_SANDBOX_LENIENT=true runs scripts without")
    for layer in active_layers(machine):
        if layer.in_supervisor is not None:
            with _stage(layer.name):
                layer.in_supervisor(spare)


def contain_init(machine: Machine, spare: Spare) -> None:
    """In the init, before it forks."""
    for layer in active_layers(machine):
        if layer.in_init is not None:
            with _stage(layer.name):
                layer.in_init(spare)


def contain_script(run: Run) -> None:
    """In the script's process, before it executes."""
    for layer in active_layers(run.machine):
        if layer.in_script is not None:
            with _stage(layer.name):
                layer.in_script(run)


class _stage:
    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: Optional[BaseException], _trace: object) -> None:
        if isinstance(error, (OSError, ValueError)):
            raise SandboxError(self._name, str(error)) from error


def enter_user_namespace(_spare: Spare) -> None:
    """A user namespace in which this user is the same and has every right over what is made."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER)
    kernel.set_dumpable(True)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        _write(f"/proc/self/{name}", text)
    kernel.set_dumpable(False)


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def enter_pid_namespace(_spare: Spare) -> None:
    """The next child is process 1 of a new pid namespace."""
    kernel.unshare(kernel.CLONE_NEWPID)


def enter_ipc_namespace(_spare: Spare) -> None:
    """System V IPC and POSIX queues of its own."""
    kernel.unshare(kernel.CLONE_NEWIPC)


def enter_mount_namespace(spare: Spare) -> None:
    """A mount namespace with the run's future root; sets `spare.proc`."""
    kernel.unshare(kernel.CLONE_NEWNS)
    spare.proc = mounts.build_root(spare.root)


def enter_root(run: Run) -> None:
    """The root that was built becomes the root, with what this run has in it."""
    mounts.enter_root(run.root, run.spec, run.files, run.tmp)


def limit_pids(run: Run) -> None:
    """Numbers below 300 are given out once only, so the rest must suffice for the limit."""
    limit = run.spec.limits.processes
    if limit is not None:
        _write("/proc/sys/kernel/pid_max", str(_RESERVED_PIDS + limit + 2))


def _start_session(_run: Run) -> None:
    os.setsid()


def _limit_resources(run: Run) -> None:
    limits = run.spec.limits
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_AS, limits.address_space_bytes)
    _limit(resource.RLIMIT_FSIZE, limits.disk_bytes)
    if limits.cpu_seconds is not None:
        seconds = max(1, math.ceil(limits.cpu_seconds))
        # SIGXCPU first; a script that ignores it is killed a second later.
        _limit(resource.RLIMIT_CPU, seconds, seconds + 1)
    if limits.processes is not None and run.machine.counts_processes_per_run:
        # The supervisor and the init count too.
        _limit(resource.RLIMIT_NPROC, limits.processes + 2)


def _limit(which: int, soft: Optional[int], hard: Optional[int] = None) -> None:
    if soft is None:
        return
    ceiling = resource.getrlimit(which)[1]
    wanted = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, wanted = min(soft, ceiling), min(wanted, ceiling)
    resource.setrlimit(which, (soft, wanted))


def _drop_capabilities(run: Run) -> None:
    kernel.drop_capabilities(0 if run.user is None else kernel.CAP_CHANGE_USER)


def enter_script_user(run: Run) -> None:
    """The last capabilities go with user 0."""
    if run.user is None:
        raise OSError(EPERM, "the run was given no user")
    identity.become(run.user)
    if not run.machine.has("pid_namespace"):
        # It was asked for when the process began, and forgotten with the user.
        kernel.die_with_parent(signal.SIGKILL)


def _set_no_new_privileges(_run: Run) -> None:
    kernel.set_no_new_privileges()


def restrict_files(run: Run) -> None:
    """Landlock's rules, of which the mount namespace, where there is one, has done the most."""
    if run.has_own_root:
        rules = mounts.rules_in_root(run.spec)
    else:
        rules = mounts.rules_on_host(run.spec, run.files, run.tmp)
    landlock.restrict(rules)


def filter_system_calls(_run: Run) -> None:
    """@raises OSError on a machine whose system calls are not known here"""
    if _FILTER is None:
        raise OSError(ENOSYS, f"no filter for {os.uname().machine}")
    kernel.filter_system_calls(_FILTER)


LAYERS: Tuple[Layer, ...] = (
    Layer(
        "user_namespace",
        "An ordinary user may make the other namespaces, and the process limit is this run's own",
        in_supervisor=enter_user_namespace,
    ),
    Layer(
        "pid_namespace",
        "The run sees its own processes only, and none of them outlives it",
        in_supervisor=enter_pid_namespace,
    ),
    Layer(
        "ipc_namespace",
        "No shared memory or message queue of others",
        in_init=enter_ipc_namespace,
    ),
    Layer(
        "pid_limit",
        "A fork bomb runs out of process numbers some hundreds above its limit",
        in_script=limit_pids,
    ),
    Layer(
        "mount_namespace",
        "Only the system's folders, the interpreter and the own workspace are visible",
        in_init=enter_mount_namespace,
        in_script=enter_root,
    ),
    Layer("proc", "/proc shows the run's own processes only"),
    Layer("session", "Own session and process group", in_script=_start_session),
    Layer("rlimits", "CPU time, address space, open files, size of a file", in_script=_limit_resources),
    Layer("capabilities", "No capability, not even as user 0", in_script=_drop_capabilities),
    Layer(
        "script_user",
        "Each script has a system user of its own, to whom files and processes of others are foreign",
        in_script=enter_script_user,
    ),
    Layer("no_new_privs", "No setuid program gains rights", in_script=_set_no_new_privileges),
    Layer(
        "landlock",
        "Files by rules; no process outside is traced, signalled or reached by abstract sockets",
        in_script=restrict_files,
    ),
    Layer(
        "seccomp",
        "No system call that reaches other processes, the kernel's keys, or new namespaces",
        in_script=filter_system_calls,
    ),
)
