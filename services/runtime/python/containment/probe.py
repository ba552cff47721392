"""Finds the layers that this machine supports by applying them in a child process."""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from errno import EPERM
from typing import Callable, Dict, List, Tuple, Union

from kernel import syscalls
from kernel.cgroups import Groups, find_groups
from wire import process_messages as messages
from wire.run_spec import Limits, RunSpec

from . import layer_steps as steps
from . import script_user
from .listen_calls import Listening, answer_listen
from .machine import NOT_NEEDED, Choices, Machine
from .run_context import Run, Spare

_NO_CTYPES = "this Python was built without ctypes (libffi)"
_SWITCHED_OFF = "disabled"
_WITHIN_PID_NAMESPACE = ("ipc_namespace", "pid_limit", "mount_namespace", "proc")
_NAMESPACES = ("user_namespace", "pid_namespace", *_WITHIN_PID_NAMESPACE)
_BY_PROCESS = ("capabilities", "no_new_privs", "landlock", "bind_tcp", "listen_filter", "seccomp")
_NEEDS_CTYPES = (*_NAMESPACES, "script_user", *_BY_PROCESS)
_PID_LIMIT_SINCE = (6, 14)
_HINTS = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "10000"),
)

Missing = Dict[str, str]


def probe_machine(root: str, choices: Choices) -> Machine:
    """Tests the layers first without and then with a user namespace.

    @param root an empty folder on which file systems can be mounted
    """
    if not syscalls.AVAILABLE:
        switched_off = dict.fromkeys(choices.without, _SWITCHED_OFF)
        return Machine({**dict.fromkeys(_NEEDS_CTYPES, _NO_CTYPES), **switched_off}, choices)
    through_user = [False, True] if os.geteuid() == 0 else [True]
    groups = _find_groups(os.path.dirname(root), choices)
    known = dict.fromkeys(choices.without, _SWITCHED_OFF)
    if isinstance(groups, str):
        known["cgroup"], groups = groups, None
    attempts = [_Attempt(Spare(root, groups), known).outcome(user) for user in through_user]
    # Given equal results, prefers the attempt without a user namespace.
    fewest = min(attempts, key=lambda missing: len(missing.keys() - {"user_namespace"}))
    return Machine(fewest, choices, None if "cgroup" in fewest else groups)


def _find_groups(owner: str, choices: Choices) -> Union[Groups, str]:
    """Returns the control groups, or why they are unavailable."""
    if "cgroup" in choices.without:
        return _SWITCHED_OFF
    try:
        return find_groups(owner)
    except OSError as error:
        return f"no control group can be created ({_words(error)}); enable it with systemd's Delegate=yes"


class _Attempt:
    """Applies the layers one after another, as for a run. Records the layers that fail."""

    def __init__(self, spare: Spare, known: Missing) -> None:
        self._spare = spare
        self._missing = dict(known)

    def outcome(self, through_user: bool) -> Missing:
        """Returns the missing layers with their reasons."""
        return self._in_child(lambda: self._supervisor_side(through_user))

    def _in_child(
        self, action: Callable[[], None], meanwhile: Callable[[], None] = lambda: None
    ) -> Missing:
        """Performs the action in a separate process. Returns the layers that are missing afterwards. If the process
        crashes, all layers count as missing."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                action()
                os.write(writing, json.dumps(self._missing).encode())
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(0)
        os.close(writing)
        meanwhile()
        with open(reading, encoding="utf-8") as file:
            answer = file.read()
        os.waitpid(pid, 0)
        if not answer:
            return {**dict.fromkeys(_NEEDS_CTYPES, "the check of the layer crashed"), **self._missing}
        missing: Missing = json.loads(answer)
        return missing

    def _supervisor_side(self, through_user: bool) -> None:
        spare = self._spare
        if through_user:
            self._try("user_namespace", lambda: steps.enter_user_namespace(spare))
        else:
            self._missing["user_namespace"] = NOT_NEEDED
        self._try("pid_namespace", lambda: steps.enter_pid_namespace(spare))
        reason = self._missing.get("pid_namespace")
        if reason is not None:
            self._missing["pid_namespace"] = reason = reason + _hint()
            self._missing = {**dict.fromkeys(_WITHIN_PID_NAMESPACE, reason), **self._missing}
        self._try("cgroup", lambda: steps.make_group(spare))
        self._try("mount_namespace", lambda: steps.build_root(spare))
        gate, far_gate = messages.open_gate()
        self._missing = self._in_child(
            lambda: self._init_side(far_gate), lambda: _answer_listen(gate, far_gate)
        )
        if spare.group is not None:
            spare.group.remove()

    def _init_side(self, gate: socket.socket) -> None:
        spare = self._spare
        self._try("cgroup", lambda: self._join_group(spare))
        self._try("mount_namespace", lambda: steps.enter_bare_root(spare))
        if "mount_namespace" in self._missing:
            self._missing.setdefault("proc", "needs the mount namespace")
        elif spare.proc is None:
            self._missing.setdefault("proc", "not permitted: the current /proc is partly masked")
        self._missing = self._in_child(lambda: self._script_side(gate))

    def _script_side(self, gate: socket.socket) -> None:
        self._try("ipc_namespace", lambda: steps.enter_ipc_namespace(self._spare))
        self._try("mount_namespace", lambda: steps.enter_mount_namespace(self._spare))
        limits = Limits(None, None, None, None, 1000, None, None)
        spec = RunSpec("probe", "probe", "probe", [], {}, [], [], None, [], [], [], [], limits, 0, 0)
        machine = Machine(self._missing)
        run = Run(spec, machine, self._spare.root, "/usr", "/usr", script_user.FIRST_USER, [])
        if _kernel_version() < _PID_LIMIT_SINCE:
            # Before Linux 6.14, testing the limit would affect the whole machine.
            self._missing.setdefault("pid_limit", "needs Linux 6.14")
        self._try("pid_limit", lambda: steps.limit_pids(run))
        self._try("mount_namespace", lambda: steps.enter_root(run))
        self._try("script_user", lambda: self._enter_script_user(run))
        # Tests the later layers after this process has dropped all privileges, as in a run.
        self._try("capabilities", syscalls.bound_capabilities)
        self._try("capabilities", syscalls.drop_capabilities)
        self._try("no_new_privs", syscalls.set_no_new_privileges)
        self._try("landlock", lambda: steps.restrict_files(run))
        self._try("bind_tcp", lambda: steps.restrict_ports(run))
        self._try("listen_filter", lambda: _listen(run, gate))
        self._try("seccomp", lambda: steps.filter_system_calls(run))

    def _join_group(self, spare: Spare) -> None:
        steps.join_group(spare)
        if spare.group is not None:
            spare.group.limit(memory_bytes=2**30, processes=100)

    def _enter_script_user(self, run: Run) -> None:
        if os.geteuid() != 0:
            raise OSError(EPERM, "only root can run each script as its own system user")
        steps.enter_script_user(run)
        if not run.has_own_root:
            # Without mounts, the script's user needs access to these host paths.
            os.stat(self._spare.root)
            os.stat(sys.executable)

    def _try(self, layer: str, step: Callable[[], None]) -> None:
        if layer in self._missing:
            return
        try:
            step()
        except OSError as error:
            hint = _hint() if layer in ("user_namespace", "mount_namespace") else ""
            self._missing[layer] = _words(error) + hint


def _listen(run: Run, gate: socket.socket) -> None:
    """The script's side of the listen(2) filter, after the program has been executed."""
    syscalls.set_dumpable(True)
    steps.filter_listening(run)
    messages.send_ready(gate, run.for_supervisor)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("")
        listener.listen()


def _answer_listen(gate: socket.socket, far_gate: socket.socket) -> None:
    """The supervisor's side of the listen(2) filter. Requires that the script's side has sent the descriptor."""
    far_gate.close()
    descriptor = messages.receive(gate).descriptor
    if descriptor is not None:
        user = None if os.geteuid() else script_user.FIRST_USER
        while answer_listen(descriptor, Listening([], user)):
            select.select([descriptor], [], [])
        os.close(descriptor)


def _words(error: OSError) -> str:
    """Returns the message without the error number."""
    words = error.strerror or str(error)
    return words if error.filename is None else f"{words}: {os.fsdecode(error.filename)}"


def _hint() -> str:
    found: List[str] = []
    for name, blocking, enabling in _HINTS:
        try:
            with open(f"/proc/sys/{name}", encoding="ascii") as file:
                if file.read().strip() == blocking:
                    found.append(f"{name.replace('/', '.')}={enabling}")
        except OSError:
            continue
    return f"; `sysctl -w {' '.join(found)}` enables it" if found else ""


def _kernel_version() -> Tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()) or 0)
