"""The layers of containment. LAYERS lists all layers in the order in which they are applied.

A layer acts at up to four points: in the supervisor before the init is forked, in the init, in the script's process
before its run is known, and in the script's process before it executes the script. probe.py determines once which
layers the machine supports. If a supported layer fails later, the run fails. Therefore, every run has all layers that
its READY frame lists.
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
    """One layer. `name` never changes and appears in reports. `purpose` is shown to users."""

    name: str
    purpose: str
    in_supervisor: Optional[SpareStep] = None
    in_init: Optional[SpareStep] = None
    in_spare: Optional[SpareStep] = None
    in_script: Optional[RunStep] = None


def active_layers(machine: Machine) -> List[Layer]:
    """Returns the layers that this machine supports, in order."""
    return [layer for layer in LAYERS if machine.has(layer.name)]


def describe_layers(machine: Machine) -> List[Dict[str, object]]:
    """Describes the available and missing layers on this machine for /system/info (type SandboxLayer in sandbox.ts)."""
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
    """Applies the layers in the supervisor. `contain_init` and the functions after it raise the same errors.

    @raises SandboxError with the layer's name as its stage. The stage is `layers` if a required layer is missing, or if
    a run would be root on the host
    """
    if machine.refusal is not None:
        raise SandboxError("layers", machine.refusal)
    if machine.lacking and not machine.choices.lenient:
        lacking = "; ".join(machine.lacking)
        raise SandboxError("layers", f"{lacking}. Set ORCH_SANDBOX_LENIENT=true to run scripts without")
    for layer in active_layers(machine):
        if layer.in_supervisor is not None:
            with _stage(layer.name):
                layer.in_supervisor(spare)


def contain_init(machine: Machine, spare: Spare) -> None:
    """Applies the layers in the init before it forks a script's process."""
    for layer in active_layers(machine):
        if layer.in_init is not None:
            with _stage(layer.name):
                layer.in_init(spare)


def contain_spare(machine: Machine, spare: Spare) -> None:
    """Applies the layers in the script's process before its run is known."""
    for layer in active_layers(machine):
        if layer.in_spare is not None:
            with _stage(layer.name):
                layer.in_spare(spare)


def contain_script(run: Run) -> None:
    """Applies the layers in the script's process before it executes the script."""
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
        "Allows the other namespaces without root; separate process limit per run",
        in_supervisor=steps.enter_user_namespace,
    ),
    Layer(
        "pid_namespace",
        "The run sees only its own processes; all of them end with the run",
        in_supervisor=steps.enter_pid_namespace,
    ),
    Layer(
        "ipc_namespace",
        "No shared memory or message queues of other runs",
        in_spare=steps.enter_ipc_namespace,
    ),
    Layer("descendants", "Orphaned processes are found and end with the run"),
    Layer(
        "cgroup",
        "The kernel measures and limits the total usage of the run's processes",
        in_supervisor=steps.make_group,
        in_init=steps.join_group,
    ),
    Layer(
        "pid_limit",
        "A fork bomb is stopped a few hundred processes above the limit",
        in_script=steps.limit_pids,
    ),
    Layer(
        "mount_namespace",
        "Only system folders, the interpreter and the run's workspace are visible",
        in_supervisor=steps.build_root,
        in_init=steps.enter_bare_root,
        in_spare=steps.enter_mount_namespace,
        in_script=steps.enter_root,
    ),
    Layer("proc", "/proc shows only the run's own processes"),
    Layer("session", "Own session and process group", in_script=steps.start_session),
    Layer(
        "rlimits",
        "Limits on CPU time, address space, open files and file size",
        in_script=steps.limit_resources,
    ),
    Layer(
        "measuring",
        "Measures the total usage of the run: CPU time, memory, processes, disk",
    ),
    Layer("caller_check", "Only the run's own processes can connect to the platform"),
    Layer(
        "capabilities",
        "No capabilities, even as root",
        in_init=steps.bound_capabilities,
        in_script=steps.drop_capabilities,
    ),
    Layer(
        "script_user",
        "Each script has its own system user, without access to other users' files and processes",
        in_script=steps.enter_script_user,
    ),
    Layer("no_new_privs", "Setuid programs gain no privileges", in_script=steps.set_no_new_privileges),
    Layer(
        "landlock",
        "Restricts file access; blocks tracing, signals and abstract sockets to other processes",
        in_script=steps.restrict_files,
    ),
    Layer(
        "bind_tcp",
        "TCP sockets can bind only to the script's listen ports",
        in_script=steps.restrict_ports,
    ),
    Layer(
        "listen_filter",
        "Sockets can listen only on the script's listen ports, or within the run",
        in_script=steps.filter_listening,
    ),
    Layer(
        "seccomp",
        "Blocks system calls for other processes, kernel keys and new namespaces",
        in_script=steps.filter_system_calls,
    ),
)
