"""Control groups, with which the kernel counts and limits the resources of all processes of a run together.

Control groups are used if this process may create groups below its own group. Version 2 is used if it controls memory,
otherwise version 1. Existing groups are not changed, except that version 2 enables controllers for child groups if
permitted.
"""

from __future__ import annotations

import os
import signal
import time
from errno import ENOENT, EPERM
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from .digests import sha256

# Excludes the CPU controller, because no limit requires it. With this controller, short runs in separate groups
# took three times as long on a busy machine.
_CONTROLLERS = ("memory", "pids")
_MEMORY = {
    2: ("memory.max", "memory.swap.max"),
    1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
}
# Additional memory for the init, and for the kernel's data structures for the processes.
_SPARE_BYTES = 16 * 1024 * 1024
_COUNTERS_BYTES = 4096
_REMOVAL_ROUNDS = 100
_ROUND_SECONDS = 0.002


class Groups(NamedTuple):
    """The parents of the runs' control groups, by controller."""

    version: int
    folders: Dict[str, str]

    def create(self) -> Group:
        """Creates the control group for this process's runs.

        @raises OSError
        """
        group = self._group(str(os.getpid()))
        for path in group.paths:
            os.makedirs(path, exist_ok=True)
        return group

    def tidy(self) -> None:
        """Removes the groups of dead supervisors and kills their processes. If no groups remain, also removes the
        parent folders."""
        names = {name for folder in self.folders.values() for name in _list(folder)}
        for name in names:
            if name.isdigit() and not _is_alive(name):
                self._group(name).remove()
        for folder in self.folders.values():
            _remove_empty(folder)

    def _group(self, name: str) -> Group:
        folders = {each: os.path.join(path, name) for each, path in self.folders.items()}
        return Group(self.version, folders)


class Group:
    """A supervisor's control group, which its successive runs use."""

    def __init__(self, version: int, folders: Dict[str, str]) -> None:
        self._version = version
        self._folders = folders
        self._limits: Optional[Tuple[Optional[int], Optional[int]]] = None
        # The values of the kernel's counters before the current run.
        self._killed, self._refused = 0, 0
        self._counters: Dict[str, int] = {}

    @property
    def paths(self) -> Tuple[str, ...]:
        """The group's folders, without duplicates."""
        return tuple(dict.fromkeys(self._folders.values()))

    def join(self) -> None:
        """Moves this process to the group. Descendants inherit the group. The process must be single-threaded.

        @raises OSError
        """
        # Moves a single thread, which takes effect immediately. To move a whole process, the kernel waits for all
        # processors. Version 2 cannot move single threads.
        name = "tasks" if self._version == 1 else "cgroup.procs"
        for path in self.paths:
            _write(path, name, "0")

    def limit(self, memory_bytes: Optional[int], processes: Optional[int]) -> None:
        """Sets the limits for the next run.

        @raises OSError
        """
        if self._limits is not None:
            self._killed, self._refused = self._count_killed(), self._count_refused()
        if self._limits == (memory_bytes, processes):
            return
        self._limits = memory_bytes, processes
        if memory_bytes is not None:
            self._limit_memory(memory_bytes + _SPARE_BYTES)
        if processes is not None:
            # The limit must also allow the init.
            _write(self._folders["pids"], "pids.max", str(processes + 1))

    def _limit_memory(self, limit_bytes: int) -> None:
        folder = self._folders["memory"]
        memory, swap = _MEMORY[self._version]
        _write(folder, memory, str(limit_bytes))
        if self._version == 2:
            _write(folder, "memory.oom.group", "1")
        if os.path.exists(os.path.join(folder, swap)):
            _write(folder, swap, "0" if self._version == 2 else str(limit_bytes))

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed one of the run's processes because of the memory limit."""
        return self._count_killed() > self._killed

    def refused_processes(self) -> int:
        """The number of processes and threads that the kernel refused."""
        return self._count_refused() - self._refused

    def _count_killed(self) -> int:
        name = "memory.events" if self._version == 2 else "memory.oom_control"
        return self._counter("memory", name, b"oom_kill")

    def _count_refused(self) -> int:
        return self._counter("pids", "pids.events", b"max")

    def _counter(self, controller: str, name: str, key: bytes) -> int:
        """Returns the value of a counter, or 0 if the kernel does not have the counter. The file stays open, because
        each run reads it."""
        try:
            if name not in self._counters:
                path = os.path.join(self._folders[controller], name)
                self._counters[name] = os.open(path, os.O_RDONLY)
            lines = os.pread(self._counters[name], _COUNTERS_BYTES, 0).splitlines()
        except OSError:
            return 0
        return next((int(value) for word, _, value in map(_parted, lines) if word == key), 0)

    def kill(self) -> None:
        """Kills all processes of the group."""
        folder = self._folders["pids"]
        try:
            _write(folder, "cgroup.kill", "1")
            return
        except OSError:
            # With version 1, or before Linux 5.14, the processes must be killed one by one.
            pass
        try:
            # Prevents new processes. Otherwise, a process that forks constantly could escape each round.
            _write(folder, "pids.max", "0")
        except OSError:
            # The group has already been removed.
            return
        for _round in range(_REMOVAL_ROUNDS):
            members = list(_members(folder))
            if not members:
                return
            for pid in members:
                _kill(pid)
            time.sleep(_ROUND_SECONDS)

    def remove(self) -> None:
        """Kills the remaining processes and removes the group. If the group is still in use, `tidy` removes it
        later."""
        for _round in range(_REMOVAL_ROUNDS):
            if all([_remove(path) for path in self.paths]):
                return
            self.kill()
            time.sleep(_ROUND_SECONDS)


def find_groups(owner: str) -> Groups:
    """Finds the folders in which groups can be created.

    @param owner distinguishes this launcher's groups from those of other launchers
    @raises OSError if no groups can be created
    """
    name = f"orchestrator-{sha256(owner.encode()).hexdigest()[:12]}"
    unified = _own_folder("")
    if unified is not None and set(_CONTROLLERS) <= _words(unified, "cgroup.controllers"):
        return _find_unified(unified, name)
    folders = {each: _own_folder(each) for each in _CONTROLLERS}
    found = {each: os.path.join(path, name) for each, path in folders.items() if path is not None}
    if not set(_CONTROLLERS) <= found.keys():
        raise OSError(ENOENT, "no memory and pids controllers are mounted")
    for path in found.values():
        os.makedirs(path, exist_ok=True)
    return Groups(1, found)


def _find_unified(own: str, name: str) -> Groups:
    folder = own
    while True:
        try:
            _hand_down(folder)
            path = os.path.join(folder, name)
            os.makedirs(path, exist_ok=True)
            _hand_down(path)
            given = _words(path, "cgroup.subtree_control")
            return Groups(2, {each: path for each in _CONTROLLERS if each in given})
        except OSError:
            # A group that contains processes cannot enable controllers for child groups. Its parent may belong to this
            # platform as well.
            parent = os.path.dirname(folder)
            if not _is_delegated(parent):
                raise
            folder = parent


def _hand_down(folder: str) -> None:
    given, available = _words(folder, "cgroup.subtree_control"), _words(folder, "cgroup.controllers")
    missing = [each for each in _CONTROLLERS if each in available and each not in given]
    if missing:
        _write(folder, "cgroup.subtree_control", " ".join(f"+{each}" for each in missing))
    if not set(_CONTROLLERS) <= _words(folder, "cgroup.subtree_control"):
        raise OSError(EPERM, f"the memory and pids controllers are not enabled below {folder}")


def _is_delegated(folder: str) -> bool:
    """Whether groups may be created in the folder, according to systemd's mark or the folder's owner."""
    try:
        if os.geteuid() != 0:
            return os.stat(folder).st_uid == os.geteuid()
        return os.getxattr(folder, "trusted.delegate") == b"1"
    except OSError:
        return False


def _own_folder(controller: str) -> Optional[str]:
    """Returns the folder of this process's group. The controller for version 2 is ''."""
    own = None
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _number, names, path = line.rstrip("\n").split(":", 2)
            if controller in names.split(","):
                own = path
    for root, mount, kind, options in _mounts():
        fits = kind == "cgroup2" if controller == "" else kind == "cgroup" and controller in options
        if own is not None and fits and (own + "/").startswith(root.rstrip("/") + "/"):
            return os.path.normpath(mount + "/" + own[len(root.rstrip("/")) :])
    return None


def _mounts() -> Iterator[Tuple[str, str, str, List[str]]]:
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            first, _, second = line.rstrip("\n").partition(" - ")
            fields, (kind, _source, options) = first.split(" "), second.split(" ", 2)
            yield fields[3], fields[4], kind, options.split(",")


def _write(folder: str, name: str, text: str) -> None:
    file = os.open(os.path.join(folder, name), os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _words(folder: str, name: str) -> "set[str]":
    return set(_read(folder, name).split())


def _parted(line: bytes) -> Tuple[bytes, bytes, bytes]:
    return line.partition(b" ")


def _list(folder: str) -> List[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_alive(pid: str) -> bool:
    # The name ends at the last parenthesis. A dead process may stay unreaped for a long time.
    state = _read(f"/proc/{pid}", "stat").rpartition(") ")[2][:1]
    return state not in ("", "Z", "X")


def _members(folder: str) -> Iterator[int]:
    return (int(line) for line in _read(folder, "cgroup.procs").split())


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _remove_empty(folder: str) -> None:
    """Retries, because the parent still counts a removed group for a short time."""
    for _round in range(_REMOVAL_ROUNDS):
        if _remove(folder) or any(name.isdigit() for name in _list(folder)):
            return
        time.sleep(_ROUND_SECONDS)


def _remove(path: str) -> bool:
    """Returns whether the group is removed."""
    try:
        os.rmdir(path)
        return True
    except FileNotFoundError:
        return True
    except OSError:
        return False
