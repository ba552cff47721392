"""A spare supervisor: a process that has all it needs for a run but the run itself.

Making one takes longer than all the rest of starting a run, so it is made before it is needed.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from typing import NamedTuple

from . import kernel
from .channel import Channel
from .errors import SandboxError
from .frames import FAILED, LAYERS, PROBE, ProtocolError
from .init import Execute
from .layers import describe_layers
from .machine import Machine
from .processes import RunProcesses
from .spec import parse_spec
from .supervisor import Supervisor


class Post(NamedTuple):
    """Where a spare waits and what it belongs to."""

    listener: socket.socket
    # Readable, at their ends, when no more runs are taken, and when the launcher is gone. Runs
    # that outlive the launcher do not watch the latter.
    closing: int
    life: int
    # Holds a byte for each spare that is too much.
    dismissing: int
    outlives: bool
    # Takes the spare's process number when its run is prepared: making the next spare before
    # that would compete with it for the processor.
    taken: int
    # The only process that may connect.
    runtime: int
    machine: Machine
    runs: str
    root: str
    execute: Execute


def serve_one_run(post: Post) -> None:
    """The life of a supervisor process, from being a spare to the end of its run.

    @raises BecomeScript in the script's process, which is forked early on
    """
    _contain_self(post.machine)
    processes = RunProcesses(post.machine, post.root, post.execute)
    try:
        connection = _wait_for_connection(post)
        if connection is not None:
            if post.outlives:
                kernel.die_with_parent(0)
            _serve(post, Channel(connection), processes)
    finally:
        processes.kill()
        processes.reap()
        processes.remove_group()


def _contain_self(machine: Machine) -> None:
    os.setsid()
    if kernel.AVAILABLE:
        if machine.has("pid_namespace"):
            # Without one it must live to kill the run's processes when its life pipe closes.
            kernel.die_with_parent(signal.SIGKILL)
        kernel.set_dumpable(False)
        if machine.has("descendants"):
            kernel.become_subreaper()


def _wait_for_connection(post: Post) -> "socket.socket | None":
    poller = select.poll()
    for fd in (post.listener.fileno(), post.closing, post.life, post.dismissing):
        poller.register(fd, select.POLLIN)
    while True:
        ready = {fd for fd, _event in poller.poll()}
        if ready == {post.dismissing}:
            if _is_dismissed(post):
                return None
            continue
        if ready - {post.dismissing} != {post.listener.fileno()}:
            return None
        try:
            connection, _address = post.listener.accept()
        except OSError:
            # Another spare was first.
            continue
        if _peer(connection) == post.runtime:
            post.listener.close()
            connection.setblocking(True)
            return connection
        connection.close()


def _is_dismissed(post: Post) -> bool:
    try:
        return os.read(post.dismissing, 1) != b""
    except BlockingIOError:
        # Another spare was first.
        return False


def _peer(connection: socket.socket) -> int:
    """The process that connected: a script of the same user must not."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int(struct.unpack("iII", credentials)[0])


def _serve(post: Post, channel: Channel, processes: RunProcesses) -> None:
    try:
        kind, payload = channel.receive_first()
        if kind == PROBE:
            channel.send_json(LAYERS, {"layers": describe_layers(post.machine)})
        else:
            spec = parse_spec(payload)
            number = struct.pack("i", os.getpid())
            Supervisor(
                channel,
                None if post.outlives else post.life,
                spec,
                post.machine,
                processes,
                lambda: os.write(post.taken, number),
            ).run(post.runs)
    except SandboxError as error:
        channel.send_json(FAILED, {"stage": error.stage, "message": error.message})
    except ProtocolError as error:
        channel.send_json(FAILED, {"stage": "protocol", "message": str(error)})
    finally:
        channel.close()
