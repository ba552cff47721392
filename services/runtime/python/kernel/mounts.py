"""A script's file system: a new root that contains only the mounted files.

System folders and the run's read-only paths are mounted read-only. The workspace, `/tmp` and the run's writable paths
are writable. No other files exist in the root, in particular not the platform's data or other workspaces. The parts
that all runs share are built before the run is known.
"""

from __future__ import annotations

import os
from typing import List, Optional, Tuple

from wire.run_spec import RunSpec

from . import syscalls
from .landlock import Rules

_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix", "gnu")
_SYSTEM_BELOW = ("/sys/devices/system/cpu",)
_EMPTY = ("tmp", "var/tmp", "dev", "proc", "workspaces")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SHARED_MEMORY_OPTIONS = "size=64m,mode=1777"
# System files with root's secrets. Hidden because root can access these files even without capabilities.
_ROOT_ONLY_FILES = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers")
_ROOT_ONLY_FOLDERS = ("/etc/ssh",)
_PROC_READ_ONLY = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")


def workspace_path(script_id: str) -> str:
    """Returns a workspace's path inside the sandbox (contract: `/workspaces/{script_id}`)."""
    return f"/workspaces/{script_id}"


def build_root(root: str) -> None:
    """Builds the shared part of the root in the empty folder `root`. This process must have its own mount namespace.

    @raises OSError that names the failed mount
    """
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    syscalls.mount("root", root, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, "mode=755,size=4m")
    _show_system(root)
    for name in _EMPTY:
        os.makedirs(f"{root}/{name}", 0o755, exist_ok=True)
    syscalls.make_tree_read_only(root)
    syscalls.set_mount_writable(root, True)
    _make_devices(root + "/dev")


def mount_proc(root: str) -> Optional[int]:
    """Mounts the /proc of this process's PID namespace in the root.

    @returns a descriptor of the mounted folder, or None if the kernel refuses
    """
    path = root + "/proc"
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    try:
        syscalls.mount("proc", path, "proc", flags)
    except OSError:
        # The kernel refuses the mount if the current /proc is partly covered, as in most containers.
        return None
    proc = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    if os.geteuid() == 0:
        for name in _PROC_READ_ONLY:
            if os.path.exists(f"{path}/{name}"):
                syscalls.bind(f"{path}/{name}", f"{path}/{name}")
                syscalls.set_mount_writable(f"{path}/{name}", False)
    return proc


def mount_shared_memory(root: str) -> None:
    """Mounts an empty /dev/shm."""
    flags = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount("shm", root + "/dev/shm", "tmpfs", flags, _SHARED_MEMORY_OPTIONS)


def enter_root(root: str, spec: RunSpec, files: str, tmp: str) -> None:
    """Adds this run's files, and makes the folder the root of this process.

    @param files the host path of the run's copy of its files
    @param tmp the host path of the run's `/tmp`
    """
    workspace = root + workspace_path(spec.script_id)
    # Mounted first, because other paths may be below /tmp on the host.
    syscalls.bind(tmp, root + "/tmp")
    syscalls.bind(tmp, root + "/var/tmp")
    # Mounts outer paths before the paths inside them. A hidden path in a visible folder then stays hidden, and a
    # visible path in a hidden folder stays visible.
    covered = []
    for path in sorted({*spec.hidden, *spec.read_only}):
        if path in spec.hidden and os.path.isdir(root + path):
            _cover(root + path)
            covered.append(root + path)
        elif path in spec.hidden and os.path.exists(root + path):
            syscalls.bind("/dev/null", root + path)
        if path in spec.read_only:
            _show(path, root)
            syscalls.make_tree_read_only(root + path)
    for path in spec.read_write:
        _show(path, root)
    _bind(files, workspace)
    if spec.data_folder is not None:
        syscalls.bind(spec.data_folder, workspace + "/data")
    # Makes these mounts read-only last, because mount points for visible paths inside them had to be created first.
    for path in [*covered, root]:
        syscalls.set_mount_writable(path, False)
    syscalls.enter_root(root)


def rules_in_root(spec: RunSpec) -> Rules:
    """Returns the file rules inside the root that `enter_root` creates. Every file in this root may be read."""
    # /var/tmp is the same folder as /tmp.
    own = (workspace_path(spec.script_id), "/tmp", "/dev/shm")
    return Rules(["/"], [*own, *spec.read_write], existing=["/dev"])


def rules_on_host(spec: RunSpec, files: str, tmp: str) -> Rules:
    """Returns the file rules for a run that uses the host's root. The rules cover system folders and the run's paths.
    """
    system = [f"/{name}" for name in _SYSTEM]
    readable = [*system, *_SYSTEM_BELOW, *_name_service_files(), "/proc", *spec.read_only]
    data = [] if spec.data_folder is None else [spec.data_folder]
    # Scripts need /dev/shm for semaphores, although other scripts with the same user can also access it.
    writable = [files, tmp, *data, "/dev/shm", *_device_paths(), *spec.read_write]
    hidden = [os.path.realpath(path) for path in spec.hidden]
    if os.geteuid() == 0:
        hidden += [*_ROOT_ONLY_FILES, *_ROOT_ONLY_FOLDERS]
    return Rules(readable, writable, hidden)


def _device_paths() -> List[str]:
    return [f"/dev/{name}" for name in _DEVICES]


def _show_system(root: str) -> None:
    for name in _SYSTEM:
        path = "/" + name
        if os.path.islink(path):
            os.symlink(os.readlink(path), root + path)
        elif os.path.isdir(path):
            _show(path, root)
    for path in _SYSTEM_BELOW + _name_service_files():
        if os.path.exists(path):
            _show(path, root)
    if os.geteuid() == 0:
        for path in _ROOT_ONLY_FILES:
            if os.path.isfile(path):
                syscalls.bind("/dev/null", root + path)
        for path in _ROOT_ONLY_FOLDERS:
            if os.path.isdir(root + path):
                _cover(root + path)


def _name_service_files() -> Tuple[str, ...]:
    # /etc/resolv.conf is often a link to a path in /run, which is otherwise invisible.
    target = os.path.realpath("/etc/resolv.conf")
    return (target,) if target.startswith("/run/") else ()


def _cover(path: str) -> None:
    syscalls.mount("hidden", path, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, "mode=755,size=1m")


def _show(path: str, root: str) -> None:
    _bind(path, root + path)


def _bind(path: str, target: str) -> None:
    try:
        # An earlier run may have created the mount point.
        syscalls.bind(path, target)
    except FileNotFoundError:
        _make_mount_point(path, target)
        syscalls.bind(path, target)


def _make_mount_point(path: str, target: str) -> None:
    if os.path.isdir(path):
        os.makedirs(target, 0o755)
        return
    os.stat(path)
    os.makedirs(os.path.dirname(target), 0o755, exist_ok=True)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))


def _make_devices(dev: str) -> None:
    syscalls.mount("dev", dev, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NOEXEC, "mode=755,size=1m")
    for name in _DEVICES:
        os.close(os.open(f"{dev}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        syscalls.bind(f"/dev/{name}", f"{dev}/{name}")
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink("/proc/self/fd" + target, f"{dev}/{name}")
    os.mkdir(dev + "/shm")
    syscalls.set_mount_writable(dev, False)
