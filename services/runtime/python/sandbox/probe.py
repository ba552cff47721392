"""Finds out which layers work here by putting them on in a process made for that."""

from __future__ import annotations

import json
import os
import sys
from typing import Callable, Dict, List, Tuple

from . import kernel, layers
from .layers import Run, Spare
from .machine import Machine
from .spec import Limits, RunSpec

_NO_CTYPES = "this Python was built without ctypes (libffi)"
_SWITCHED_OFF = "switched off by a setting"
_NAMESPACES = (
    "user_namespace",
    "pid_namespace",
    "ipc_namespace",
    "pid_limit",
    "mount_namespace",
    "proc",
)
_NEEDS_CTYPES = _NAMESPACES + ("capabilities", "no_new_privs")
_PID_LIMIT_SINCE = (6, 14)
_HINTS = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "10000"),
)


def explore(root: str, namespaces: bool) -> Machine:
    """Tries the namespaces as they are, and through a user namespace.

    @param root an empty folder to mount on
    """
    if not kernel.AVAILABLE:
        return Machine(dict.fromkeys(_NEEDS_CTYPES, _NO_CTYPES))
    if not namespaces:
        return Machine(dict.fromkeys(_NAMESPACES, _SWITCHED_OFF))
    through_user = [False, True] if os.geteuid() == 0 else [True]
    attempts = [_attempt(Spare(root), user) for user in through_user]
    # The first of equals: without a user namespace where that is possible.
    return Machine(min(attempts, key=lambda missing: len(missing.keys() - {"user_namespace"})))


def _attempt(spare: Spare, through_user: bool) -> Dict[str, str]:
    """The missing layers with their reasons."""
    return _in_child(lambda: _try_supervisor_side(spare, through_user))


def _in_child(action: Callable[[], Dict[str, str]]) -> Dict[str, str]:
    """The layers that the action found missing, in a process of its own; all when that died."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, json.dumps(action()).encode())
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        answer = file.read()
    os.waitpid(pid, 0)
    if not answer:
        return dict.fromkeys(_NAMESPACES, "the probe died")
    missing: Dict[str, str] = json.loads(answer)
    return missing


def _try_supervisor_side(spare: Spare, through_user: bool) -> Dict[str, str]:
    missing: Dict[str, str] = {}
    if through_user:
        _try("user_namespace", lambda: layers.enter_user_namespace(spare), missing)
    else:
        missing["user_namespace"] = "not needed as user 0"
    _try("pid_namespace", lambda: layers.enter_pid_namespace(spare), missing)
    if "pid_namespace" in missing:
        return dict.fromkeys(_NAMESPACES, missing["pid_namespace"] + _hint())
    missing.update(_in_child(lambda: _try_init_side(spare)))
    return missing


def _try_init_side(spare: Spare) -> Dict[str, str]:
    missing: Dict[str, str] = {}
    limits = Limits(None, None, None, None, 1000, None)
    spec = RunSpec("probe", "probe", [], {}, [], [], None, [], [], [], limits, 0, 0)
    run = Run(spec, Machine({}), spare.root, "/usr", "/usr")
    _try("ipc_namespace", lambda: layers.enter_ipc_namespace(spare), missing)
    if _kernel_version() < _PID_LIMIT_SINCE:
        # Before, the number was the whole machine's: it must not even be tried.
        missing["pid_limit"] = "needs Linux 6.14"
    else:
        _try("pid_limit", lambda: layers.limit_pids(run), missing)
    _try("mount_namespace", lambda: _build_and_enter(spare, run), missing)
    if "mount_namespace" in missing:
        missing["mount_namespace"] += _hint()
    if spare.proc is None:
        missing["proc"] = "a fresh /proc is refused (the present one is partly covered)"
    return missing


def _build_and_enter(spare: Spare, run: Run) -> None:
    layers.enter_mount_namespace(spare)
    layers.enter_root(run)


def _try(layer: str, step: Callable[[], None], missing: Dict[str, str]) -> None:
    try:
        step()
    except OSError as error:
        missing[layer] = str(error)


def _hint() -> str:
    found: List[str] = []
    for name, blocking, enabling in _HINTS:
        try:
            with open(f"/proc/sys/{name}", encoding="ascii") as file:
                if file.read().strip() == blocking:
                    found.append(f"{name.replace('/', '.')}={enabling}")
        except OSError:
            continue
    return f"; `sysctl -w {' '.join(found)}` would enable it" if found else ""


def _kernel_version() -> Tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()) or 0)
