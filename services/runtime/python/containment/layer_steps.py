"""The steps of each layer, in the contained process or in one of its parents."""

from __future__ import annotations

import math
import os
import resource
import signal
from errno import EINVAL, ENOSYS, EPERM
from typing import Callable, Optional

from kernel import landlock, mounts, syscalls
from kernel.seccomp import build_listen_filter, build_own_filter

from . import script_user
from .run_context import Run, Spare

_RESERVED_PIDS = 300


def _lay_out(program: Optional[bytes]) -> Optional[syscalls.Filter]:
    return None if program is None or not syscalls.AVAILABLE else syscalls.Filter(program)


# The filter permits such memory only if a control group counts it.
_FILTERS = {counted: _lay_out(build_own_filter(counted)) for counted in (False, True)}
_LISTEN_FILTER = _lay_out(build_listen_filter())


def enter_user_namespace(_spare: Spare) -> None:
    """A user namespace in which this user has the same ID and all rights over new objects. For user 0,
    the users of scripts are mapped as well."""
    user, group = os.geteuid(), os.getegid()
    with_script_users = _mapper_of_script_users() if user == 0 else lambda: False
    try:
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        syscalls.set_dumpable(True)
    except OSError:
        with_script_users()
        raise
    if not with_script_users():
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            _write(f"/proc/self/{name}", text)
    syscalls.set_dumpable(False)


def _mapper_of_script_users() -> Callable[[], bool]:
    """Forks a process outside the namespace, which alone can map several users. The result must
    be called once and returns whether the mapping succeeded."""
    waiting, go = os.pipe()
    mapper = os.fork()
    if mapper == 0:
        users = f"0 0 1\n{script_user.FIRST_USER} {script_user.FIRST_USER} {script_user.USERS}"
        status = 1
        try:
            os.read(waiting, 1)
            for name in ("uid_map", "gid_map"):
                _write(f"/proc/{os.getppid()}/{name}", users)
            status = 0
        finally:
            # An error means that this user has no permission.
            os._exit(status)

    def map_users() -> bool:
        os.write(go, b"+")
        os.close(go)
        os.close(waiting)
        return os.waitpid(mapper, 0)[1] == 0

    return map_users


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def make_group(spare: Spare) -> None:
    """Sets `spare.group`."""
    if spare.groups is not None:
        spare.group = spare.groups.create()


def join_group(spare: Spare) -> None:
    """Moves this process and its descendants to the group."""
    if spare.group is None:
        raise OSError(0, "no control group was created")
    spare.group.join()


def enter_pid_namespace(_spare: Spare) -> None:
    """The next child becomes process 1 of a new pid namespace."""
    syscalls.unshare(syscalls.CLONE_NEWPID)


def enter_ipc_namespace(_spare: Spare) -> None:
    """A namespace for System V IPC and POSIX queues."""
    syscalls.unshare(syscalls.CLONE_NEWIPC)


def build_root(spare: Spare) -> None:
    """A mount namespace that contains the runs' future root in addition to the host's files; sets `spare.view`."""
    syscalls.unshare(syscalls.CLONE_NEWNS)
    mounts.build_root(spare.root)
    spare.view = os.open("/proc/self/ns/mnt", os.O_RDONLY)


def enter_bare_root(spare: Spare) -> None:
    """The init, which owns /proc, sees only what all runs see; sets `spare.proc`."""
    spare.proc = mounts.mount_proc(spare.root)
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.enter_root(spare.root)


def enter_mount_namespace(spare: Spare) -> None:
    """A mount namespace for each run, derived from that of the supervisor."""
    if spare.view is None:
        raise OSError(0, "no root filesystem was created")
    syscalls.join_namespace(spare.view)
    syscalls.unshare(syscalls.CLONE_NEWNS)
    mounts.mount_shared_memory(spare.root)


def enter_root(run: Run) -> None:
    """Switches to the prepared root, with the files of this run."""
    mounts.enter_root(run.root, run.spec, run.files, run.tmp)


def limit_pids(run: Run) -> None:
    """Process IDs below 300 are not reused, so the remaining IDs must suffice for the limit."""
    limit = run.spec.limits.processes
    if limit is not None:
        _write("/proc/sys/kernel/pid_max", str(_RESERVED_PIDS + limit + 2))


def start_session(_run: Run) -> None:
    os.setsid()


def limit_resources(run: Run) -> None:
    limits = run.spec.limits
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_AS, limits.address_space_bytes)
    _limit(resource.RLIMIT_FSIZE, limits.disk_bytes)
    resident = run.spec.resident
    # A resident process spends the time of many runs; its supervisor measures each run.
    if limits.cpu_seconds is not None and (resident is None or resident.is_last):
        seconds = max(1, math.ceil(limits.cpu_seconds))
        # SIGXCPU first; a script that ignores it is killed a second later.
        _limit(resource.RLIMIT_CPU, seconds, seconds + 1)
    if limits.processes is not None and run.machine.counts_processes_per_run:
        # Includes the supervisor and the init.
        _limit(resource.RLIMIT_NPROC, limits.processes + 2)


def _limit(which: int, soft: Optional[int], hard: Optional[int] = None) -> None:
    if soft is None:
        return
    ceiling = resource.getrlimit(which)[1]
    wanted = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, wanted = min(soft, ceiling), min(wanted, ceiling)
    resource.setrlimit(which, (soft, wanted))


def bound_capabilities(_spare: Spare) -> None:
    """Bounds executed programs only; this process needs its capabilities to build roots."""
    syscalls.bound_capabilities()


def drop_capabilities(run: Run) -> None:
    syscalls.drop_capabilities(0 if run.user is None else syscalls.CAP_CHANGE_USER)


def enter_script_user(run: Run) -> None:
    """The process loses its last capabilities when it becomes another user."""
    if run.user is None:
        raise OSError(EPERM, "no system user was assigned to the run")
    script_user.become(run.user)
    if run.machine.must_follow:
        # Set again, because the change of user has reset it.
        syscalls.die_with_parent(signal.SIGKILL)


def set_no_new_privileges(_run: Run) -> None:
    syscalls.set_no_new_privileges()


def restrict_files(run: Run) -> None:
    """Landlock's rules for files, which mostly repeat the mount namespace if there is one."""
    if run.has_own_root:
        rules = mounts.rules_in_root(run.spec)
    else:
        rules = mounts.rules_on_host(run.spec, run.files, run.tmp)
    landlock.restrict(rules)


def restrict_ports(run: Run) -> None:
    """Landlock's rules for TCP ports."""
    landlock.restrict_ports(run.spec.listen_ports)


def filter_listening(run: Run) -> None:
    """The supervisor decides each listen(2). It receives the other end of the filter.
    
    @raises OSError on a machine with unknown system calls, or with an old kernel"""
    if _LISTEN_FILTER is None:
        raise OSError(ENOSYS, f"no seccomp filter for {os.uname().machine}")
    try:
        run.for_supervisor.append(syscalls.hear_system_calls(_LISTEN_FILTER))
    except OSError as error:
        if error.errno == EINVAL:
            raise OSError(EINVAL, "needs Linux 5.19") from error
        raise


def filter_system_calls(run: Run) -> None:
    """@raises OSError on a machine with unknown system calls"""
    program = _FILTERS[run.machine.has("cgroup")]
    if program is None:
        raise OSError(ENOSYS, f"no seccomp filter for {os.uname().machine}")
    syscalls.filter_system_calls(program)
