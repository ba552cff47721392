"""The layers of containment, in the order of their application. LAYERS is the complete list.

A layer acts at up to four points: in the supervisor before the init is forked, in the init, in the script's
process before its run is known, and in the script's process before it executes. probe.py finds the layers of the
machine once. If one of them fails later, the run fails, so no run has fewer layers than its READY frame says.
"""

from __future__ import annotations

from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from wire.frames import SandboxError

from . import layer_steps as steps
from .machine import NOT_NEEDED, Machine
from .run_context import Run, Spare

SpareStep = Callable[[Spare], None]
RunStep = Callable[[Run], None]


class Layer(NamedTuple):
    """One layer; `name` is stable and reported, `purpose` is for people."""

    name: str
    purpose: str
    in_supervisor: Optional[SpareStep] = None
    in_init: Optional[SpareStep] = None
    in_spare: Optional[SpareStep] = None
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
    where one that is required is missing, or a run would be user 0 of the host."""
    if machine.refusal is not None:
        raise SandboxError("layers", machine.refusal)
    if machine.lacking and not machine.choices.lenient:
        lacking = "; ".join(machine.lacking)
        raise SandboxError("layers", f"{lacking}. ORCH_SANDBOX_LENIENT=true runs scripts without")
    for layer in active_layers(machine):
        if layer.in_supervisor is not None:
            with _stage(layer.name):
                layer.in_supervisor(spare)


def contain_init(machine: Machine, spare: Spare) -> None:
    """In the init, before it forks a script's process."""
    for layer in active_layers(machine):
        if layer.in_init is not None:
            with _stage(layer.name):
                layer.in_init(spare)


def contain_spare(machine: Machine, spare: Spare) -> None:
    """In the script's process, before its run is known."""
    for layer in active_layers(machine):
        if layer.in_spare is not None:
            with _stage(layer.name):
                layer.in_spare(spare)


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


LAYERS: Tuple[Layer, ...] = (
    Layer(
        "user_namespace",
        "An ordinary user may make the other namespaces, and the process limit is this run's own",
        in_supervisor=steps.enter_user_namespace,
    ),
    Layer(
        "pid_namespace",
        "The run sees its own processes only, and none of them outlives it",
        in_supervisor=steps.enter_pid_namespace,
    ),
    Layer(
        "ipc_namespace",
        "No shared memory or message queue of others",
        in_spare=steps.enter_ipc_namespace,
    ),
    Layer("descendants", "Processes that have left their parents are found, and end with the run"),
    Layer(
        "cgroup",
        "The kernel counts and bounds what all processes of the run use together",
        in_supervisor=steps.make_group,
        in_init=steps.join_group,
    ),
    Layer(
        "pid_limit",
        "A fork bomb runs out of process numbers some hundreds above its limit",
        in_script=steps.limit_pids,
    ),
    Layer(
        "mount_namespace",
        "Only the system's folders, the interpreter and the own workspace are visible",
        in_supervisor=steps.build_root,
        in_init=steps.enter_bare_root,
        in_spare=steps.enter_mount_namespace,
        in_script=steps.enter_root,
    ),
    Layer("proc", "/proc shows the run's own processes only"),
    Layer("session", "Own session and process group", in_script=steps.start_session),
    Layer(
        "rlimits",
        "CPU time, address space, open files, size of a file",
        in_script=steps.limit_resources,
    ),
    Layer(
        "measuring",
        "What all processes use together is measured: CPU time, memory, processes, disk",
    ),
    Layer("caller_check", "No process but the run's own gets a connection with the platform"),
    Layer(
        "capabilities",
        "No capability, not even as user 0",
        in_init=steps.bound_capabilities,
        in_script=steps.drop_capabilities,
    ),
    Layer(
        "script_user",
        "Each script has a system user of its own, to whom files and processes of others are foreign",
        in_script=steps.enter_script_user,
    ),
    Layer("no_new_privs", "No setuid program gains rights", in_script=steps.set_no_new_privileges),
    Layer(
        "landlock",
        "Files by rules; no process outside is traced, signalled or reached by abstract sockets",
        in_script=steps.restrict_files,
    ),
    Layer(
        "bind_tcp",
        "TCP sockets are bound to the ports that the script's settings allow",
        in_script=steps.restrict_ports,
    ),
    Layer(
        "listen_filter",
        "Sockets listen on the TCP ports that the script's settings allow, and within the run",
        in_script=steps.filter_listening,
    ),
    Layer(
        "seccomp",
        "No system call that reaches other processes, the kernel's keys, or new namespaces",
        in_script=steps.filter_system_calls,
    ),
)
