"""A spare supervisor: a process that is ready to supervise a run.

Starting a supervisor takes longer than all other steps of a run's start, so it happens in advance. A keeper's
supervisor executes the script's runs one by one.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
from typing import NamedTuple, Optional

from containment.layers import describe_layers
from containment.machine import Machine
from containment.reusable_folder import ReusableFolder
from kernel import syscalls
from lifecycle.enclosure import Enclosure, ScriptPipes
from lifecycle.init import Execute
from lifecycle.resident import ResidentSupervisor
from lifecycle.supervisor import Supervisor
from wire.channel import Channel
from wire.frames import FAILED, LAYERS, PROBE, ProtocolError, SandboxError
from wire.run_spec import parse_spec


class SpareOptions(NamedTuple):
    """A spare supervisor's connections and settings."""

    listener: socket.socket
    # `closing` reaches end of file when no more runs are accepted, and `life` when the launcher exits. Runs that
    # may outlive the launcher ignore `life`.
    closing: int
    life: int
    # A pipe that contains one byte per surplus spare. A spare that reads a byte exits.
    dismissing: int
    outlives: bool
    # A pipe to the pool. The spare writes its process ID when its run is prepared. Only then does the pool start the
    # next spare, because an earlier start would compete with the run for processors. The spare writes the negative ID
    # when it is ready for another run.
    taken: int
    # The process ID of the runtime, which is the only process that may connect.
    runtime: int
    machine: Machine
    runs: str
    root: str
    execute: Execute
    # The maximum number of runs for one supervisor.
    runs_each: int


def serve_runs(options: SpareOptions) -> None:
    """Executes runs until this supervisor has reached its maximum number of runs.

    @raises BecomeScript in a script's process
    """
    _contain_self(options.machine)
    enclosure = Enclosure(
        options.machine, options.root, options.execute, options.runs_each, [options.listener]
    )
    number = os.getpid()
    folder = ReusableFolder(options.runs, options.machine)
    try:
        while _serve_next(options, enclosure, folder):
            # Collects garbage here, because the garbage collector is disabled.
            gc.collect()
            syscalls.die_with_parent(signal.SIGKILL)
            try:
                os.write(options.taken, struct.pack("i", -number))
            except BrokenPipeError:
                # The launcher has exited.
                return
    finally:
        enclosure.kill()
        enclosure.reap()
        enclosure.remove_group()
        folder.remove()
        options.listener.close()


def _serve_next(options: SpareOptions, enclosure: Enclosure, folder: ReusableFolder) -> bool:
    """Waits for a connection and executes its run. Returns whether another run may follow."""
    pipes = None if enclosure.failure is not None else enclosure.open_run()
    try:
        connection = _wait_for_connection(options)
        if connection is None:
            return False
        if options.outlives:
            syscalls.die_with_parent(0)
        return _serve(options, Channel(connection), enclosure, pipes, folder)
    finally:
        if pipes is not None:
            pipes.close()


def _contain_self(machine: Machine) -> None:
    os.setsid()
    if syscalls.AVAILABLE:
        if machine.has("pid_namespace"):
            # Without a PID namespace, the supervisor must not die with its parent. It must kill the run's processes
            # when `life` reaches end of file.
            syscalls.die_with_parent(signal.SIGKILL)
        syscalls.set_dumpable(False)
        if machine.has("descendants"):
            syscalls.become_subreaper()


def _wait_for_connection(options: SpareOptions) -> "socket.socket | None":
    poller = select.poll()
    for fd in (options.listener.fileno(), options.closing, options.life, options.dismissing):
        poller.register(fd, select.POLLIN)
    while True:
        ready = {fd for fd, _event in poller.poll()}
        if ready == {options.dismissing}:
            if _is_dismissed(options):
                return None
            continue
        if ready - {options.dismissing} != {options.listener.fileno()}:
            return None
        try:
            connection, _address = options.listener.accept()
        except OSError:
            # Another spare accepted the connection first.
            continue
        if _peer(connection) == options.runtime:
            connection.setblocking(True)
            return connection
        connection.close()


def _is_dismissed(options: SpareOptions) -> bool:
    try:
        return os.read(options.dismissing, 1) != b""
    except BlockingIOError:
        # Another spare has already read the byte.
        return False


def _peer(connection: socket.socket) -> int:
    """Returns the peer's process ID. The caller checks it, because a script with the same user must not connect."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int(struct.unpack("iII", credentials)[0])


def _serve(
    options: SpareOptions,
    channel: Channel,
    enclosure: Enclosure,
    pipes: Optional[ScriptPipes],
    folder: ReusableFolder,
) -> bool:
    """Executes the next run. Returns whether another run may follow."""
    try:
        kind, payload = channel.receive_first()
        if kind == PROBE:
            channel.send_json(LAYERS, {"layers": describe_layers(options.machine)})
            return False
        spec = parse_spec(payload)
        if pipes is None:
            raise enclosure.failure or SandboxError("init", "no process was created")
        number = struct.pack("i", os.getpid())
        supervise = Supervisor if spec.resident is None else ResidentSupervisor
        may_follow = supervise(
            channel,
            options.life,
            spec,
            options.machine,
            enclosure,
            pipes,
            lambda: os.write(options.taken, number),
            # If the launcher has exited, closes the listener, so that pending connections fail.
            options.listener.close if options.outlives else None,
        ).run(folder)
        return may_follow and options.listener.fileno() >= 0
    except SandboxError as error:
        channel.send_json(FAILED, {"stage": error.stage, "message": error.message})
    except ProtocolError as error:
        channel.send_json(FAILED, {"stage": "protocol", "message": str(error)})
    finally:
        channel.close()
    return False
