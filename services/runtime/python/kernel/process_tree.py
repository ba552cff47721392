"""Lists, measures and kills a run's processes through /proc."""

from __future__ import annotations

import os
import signal
import time
from typing import AbstractSet, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ROUND_SECONDS = 0.005
_KILL_ROUNDS = 400


class Process(NamedTuple):
    """One line of /proc/{pid}/stat. `waited_seconds` is the CPU time of children that the process has waited for."""

    pid: int
    parent: int
    state: str
    cpu_seconds: float
    waited_seconds: float
    threads: int
    memory_bytes: int


class Totals(NamedTuple):
    """The total usage of a run's processes."""

    cpu_seconds: float
    memory_bytes: int
    threads: int
    processes: int


def open_proc() -> int:
    """Opens this process's /proc. Returns a folder descriptor."""
    return os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)


def list_processes(proc: int) -> List[Process]:
    """Returns all processes in that /proc."""
    found = (_read_stat(proc, name) for name in os.listdir(proc) if name.isdigit())
    return [process for process in found if process is not None]


def descendants(
    processes: Iterable[Process], root: int, spare: AbstractSet[int] = frozenset()
) -> List[Process]:
    """Returns the descendants of `root`, without the processes in `spare` and their descendants."""
    children: Dict[int, List[Process]] = {}
    for process in processes:
        if process.pid not in spare:
            children.setdefault(process.parent, []).append(process)
    result = list(children.pop(root, ()))
    for process in result:  # The list grows during the loop.
        result += children.pop(process.pid, ())
    return result


def sum_up(processes: Iterable[Process], init: int) -> Totals:
    """Adds up the usage of processes. Omits the run's init, but includes the children that the init has reaped."""
    cpu_seconds, memory_bytes, threads, count = 0.0, 0, 0, 0
    for process in processes:
        cpu_seconds += process.waited_seconds
        if process.pid != init:
            cpu_seconds += process.cpu_seconds
            memory_bytes += process.memory_bytes
            threads += process.threads
            count += 1
    return Totals(cpu_seconds, memory_bytes, threads, count)


def proportional_bytes(proc: int, processes: Iterable[Process], init: int) -> int:
    """Adds up the resident memory. A page that n processes share counts as 1/n for each process. If this value is
    unreadable, the plain resident memory counts. This measurement takes much longer than reading the plain values."""
    total = 0
    for process in processes:
        if process.pid != init:
            exact = _read_pss(proc, process.pid)
            total += process.memory_bytes if exact is None else exact
    return total


def lineage(pid: int, root: int) -> Optional[Tuple[int, ...]]:
    """Returns the process and its ancestors up to `root`, or None if `root` is not an ancestor.

    If two calls return the same IDs, the IDs belonged to the same processes throughout: if a process on the path had
    exited, its child would have another parent.
    """
    line = [pid]
    proc = open_proc()
    try:
        while line[-1] > 1:
            process = _read_stat(proc, str(line[-1]))
            if process is None or process.parent in line:
                return None
            line.append(process.parent)
            if process.parent == root:
                return tuple(line)
    finally:
        os.close(proc)
    return None


def is_there(folder: int) -> bool:
    """Whether the process of an open /proc folder still exists, even if the process ID was reused."""
    try:
        return _read(folder, "stat") != b""
    except OSError:
        return False


def open_folders(proc: int, processes: Iterable[Process]) -> Iterator[int]:
    """Yields a descriptor of each process's folder. The descriptor is closed before the next one is requested."""
    for process in processes:
        try:
            folder = os.open(str(process.pid), os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
        except OSError:
            continue
        try:
            yield folder
        finally:
            os.close(folder)


def kill_descendants(root: int, spare: AbstractSet[int] = frozenset()) -> None:
    """Kills all descendants of `root`, and reaps those that `root` has adopted, until none remain. First stops all
    processes, so that none can escape by forking between two scans. `root` must be this process, and must be a
    subreaper."""
    proc = open_proc()
    while True:
        family = descendants(list_processes(proc), root, spare)
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for process in family:
                if process.state != "Z":
                    _send(process.pid, sent)
        for process in family:
            _reap(process.pid)
        if not family:
            os.close(proc)
            return
        time.sleep(_ROUND_SECONDS)


def kill_users(folder: str) -> None:
    """Kills the processes whose environment contains a path in the folder. The environment of each run contains such a
    path."""
    wanted = b"=" + os.fsencode(folder) + b"/"
    proc = open_proc()
    for _round in range(_KILL_ROUNDS):
        found = [process for process in list_processes(proc) if _was_given(proc, process, wanted)]
        if not found:
            break
        for process in found:
            _send(process.pid, signal.SIGKILL)
        time.sleep(_ROUND_SECONDS)
    os.close(proc)


def _was_given(proc: int, process: Process, wanted: bytes) -> bool:
    try:
        return process.state != "Z" and wanted in _read(proc, f"{process.pid}/environ", 1024 * 1024)
    except OSError:
        return False


def _send(pid: int, sent: int) -> None:
    try:
        os.kill(pid, sent)
    except (ProcessLookupError, PermissionError):
        pass


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


def _read(proc: int, path: str, most: int = 4096) -> bytes:
    file = os.open(path, os.O_RDONLY, dir_fd=proc)
    try:
        return os.read(file, most)
    finally:
        os.close(file)


def _read_stat(proc: int, name: str) -> Optional[Process]:
    try:
        line = _read(proc, name + "/stat")
    except OSError:
        return None
    # The script can choose the name in parentheses, so only the last parenthesis ends the name.
    fields = line[line.rindex(b")") + 2 :].split()
    return Process(
        pid=int(name),
        parent=int(fields[1]),
        state=fields[0].decode(),
        cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND,
        waited_seconds=(int(fields[13]) + int(fields[14])) / _TICKS_PER_SECOND,
        threads=int(fields[17]),
        memory_bytes=int(fields[21]) * _PAGE_BYTES,
    )


def _read_pss(proc: int, pid: int) -> Optional[int]:
    """Returns None if the file is unreadable, or if the process is exiting and has released its memory."""
    try:
        text = _read(proc, f"{pid}/smaps_rollup")
    except PermissionError:
        return None
    except OSError:
        return 0
    for line in text.split(b"\n"):
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0
