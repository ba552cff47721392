"""The steps that apply each layer, in the contained process or in one of its parents."""

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


# Two filters: one permits creating memory that no process maps, and the other denies it. The permission requires a
# control group that counts such memory.
_FILTERS = {counted: _lay_out(build_own_filter(counted)) for counted in (False, True)}
_LISTEN_FILTER = _lay_out(build_listen_filter())


def enter_user_namespace(_spare: Spare) -> None:
    """Enters a user namespace in which this user keeps the same ID and has all rights over new objects. If this user is
    root, script users are mapped as well."""
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
    """Forks a process that stays outside the namespace, because only such a process can map several users. Returns a
    function that must be called exactly once, and that returns whether the mapping succeeded."""
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
            # Exits with an error if this user is not permitted to map user IDs.
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
    """Creates a control group, and sets `spare.group`."""
    if spare.groups is not None:
        spare.group = spare.groups.create()


def join_group(spare: Spare) -> None:
    """Moves this process to the control group. Descendants inherit the group."""
    if spare.group is None:
        raise OSError(0, "no control group was created")
    spare.group.join()


def enter_pid_namespace(_spare: Spare) -> None:
    """Makes the next child process 1 of a new PID namespace."""
    syscalls.unshare(syscalls.CLONE_NEWPID)


def enter_ipc_namespace(_spare: Spare) -> None:
    """Enters a new namespace for System V IPC and POSIX message queues."""
    syscalls.unshare(syscalls.CLONE_NEWIPC)


def build_root(spare: Spare) -> None:
    """Enters a mount namespace that contains the host's files and the future root of the runs. Sets `spare.view`."""
    syscalls.unshare(syscalls.CLONE_NEWNS)
    mounts.build_root(spare.root)
    spare.view = os.open("/proc/self/ns/mnt", os.O_RDONLY)


def enter_bare_root(spare: Spare) -> None:
    """Hides the host from the init, because runs can inspect the init through /proc. Sets `spare.proc`."""
    spare.proc = mounts.mount_proc(spare.root)
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.enter_root(spare.root)


def enter_mount_namespace(spare: Spare) -> None:
    """Enters a mount namespace for one run, as a copy of the supervisor's mount namespace."""
    if spare.view is None:
        raise OSError(0, "no root filesystem was created")
    syscalls.join_namespace(spare.view)
    syscalls.unshare(syscalls.CLONE_NEWNS)
    mounts.mount_shared_memory(spare.root)


def enter_root(run: Run) -> None:
    """Switches to the prepared root with this run's files."""
    mounts.enter_root(run.root, run.spec, run.files, run.tmp)


def limit_pids(run: Run) -> None:
    """Limits the number of process IDs. Process IDs below 300 are not reused, so the number must exceed the process
    limit by at least 300."""
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
    # Sets no CPU limit for a resident process that executes several runs. Its supervisor measures each run.
    if limits.cpu_seconds is not None and (resident is None or resident.is_last):
        seconds = max(1, math.ceil(limits.cpu_seconds))
        # The kernel sends SIGXCPU first. A script that ignores SIGXCPU is killed a second later.
        _limit(resource.RLIMIT_CPU, seconds, seconds + 1)
    if limits.processes is not None and run.machine.counts_processes_per_run:
        # The limit must also allow the supervisor and the init.
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
    """Only limits programs that are executed later, because this process still needs its capabilities to build roots.
    """
    syscalls.bound_capabilities()


def drop_capabilities(run: Run) -> None:
    syscalls.drop_capabilities(0 if run.user is None else syscalls.CAP_CHANGE_USER)


def enter_script_user(run: Run) -> None:
    """Changes to the script's user, which drops the remaining capabilities."""
    if run.user is None:
        raise OSError(EPERM, "no system user was assigned to the run")
    script_user.become(run.user)
    if run.machine.must_follow:
        # The change of user has reset this setting.
        syscalls.die_with_parent(signal.SIGKILL)


def set_no_new_privileges(_run: Run) -> None:
    syscalls.set_no_new_privileges()


def restrict_files(run: Run) -> None:
    """Applies Landlock file rules. With a mount namespace, most rules only repeat its restrictions."""
    if run.has_own_root:
        rules = mounts.rules_in_root(run.spec)
    else:
        rules = mounts.rules_on_host(run.spec, run.files, run.tmp)
    landlock.restrict(rules)


def restrict_ports(run: Run) -> None:
    """Applies Landlock rules for TCP ports."""
    landlock.restrict_ports(run.spec.listen_ports)


def filter_listening(run: Run) -> None:
    """Makes the supervisor decide each listen(2) call. The supervisor receives the filter's listener descriptor.

    @raises OSError on a machine with unknown system calls, or with an old kernel
    """
    if _LISTEN_FILTER is None:
        raise OSError(ENOSYS, f"no seccomp filter for {os.uname().machine}")
    try:
        run.for_supervisor.append(syscalls.hear_system_calls(_LISTEN_FILTER))
    except OSError as error:
        if error.errno == EINVAL:
            raise OSError(EINVAL, "needs Linux 5.19") from error
        raise


def filter_system_calls(run: Run) -> None:
    """Applies the system call filter.

    @raises OSError on a machine with unknown system calls
    """
    program = _FILTERS[run.machine.has("cgroup")]
    if program is None:
        raise OSError(ENOSYS, f"no seccomp filter for {os.uname().machine}")
    syscalls.filter_system_calls(program)
