"""A spare supervisor: a process that has all it needs for a run but the run itself.

Making one takes longer than all the rest of starting a run, so it is made before it is needed; one of
a keeper has run after run of its script.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
from typing import NamedTuple, Optional

from . import kernel
from .channel import Channel
from .enclosure import Enclosure, Ends
from .errors import SandboxError
from .frames import FAILED, LAYERS, PROBE, ProtocolError
from .init import Execute
from .kept_folder import KeptFolder
from .layers import describe_layers
from .machine import Machine
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
    # that would compete with it for the processor. And its negative when it is a spare again.
    taken: int
    # The only process that may connect.
    runtime: int
    machine: Machine
    runs: str
    root: str
    execute: Execute
    # How many one spare may have.
    runs_each: int


def serve_runs(post: Post) -> None:
    """The life of a supervisor process, from being a spare to the end of its last run.

    @raises BecomeScript in the script's process, which is forked early on
    """
    _contain_self(post.machine)
    enclosure = Enclosure(post.machine, post.root, post.execute, post.runs_each, [post.listener])
    number = os.getpid()
    kept = KeptFolder(post.runs, post.machine)
    try:
        while _serve_next(post, enclosure, kept):
            # What the last run left: nobody else collects here.
            gc.collect()
            kernel.die_with_parent(signal.SIGKILL)
            try:
                os.write(post.taken, struct.pack("i", -number))
            except BrokenPipeError:
                # The launcher is gone.
                return
    finally:
        enclosure.kill()
        enclosure.reap()
        enclosure.remove_group()
        kept.remove()
        post.listener.close()


def _serve_next(post: Post, enclosure: Enclosure, kept: KeptFolder) -> bool:
    """Whether another run may follow."""
    ends = None if enclosure.failure is not None else enclosure.open_run()
    try:
        connection = _wait_for_connection(post)
        if connection is None:
            return False
        if post.outlives:
            kernel.die_with_parent(0)
        return _serve(post, Channel(connection), enclosure, ends, kept)
    finally:
        if ends is not None:
            ends.close()


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


def _serve(
    post: Post, channel: Channel, enclosure: Enclosure, ends: Optional[Ends], kept: KeptFolder
) -> bool:
    """Whether another run may follow."""
    try:
        kind, payload = channel.receive_first()
        if kind == PROBE:
            channel.send_json(LAYERS, {"layers": describe_layers(post.machine)})
            return False
        spec = parse_spec(payload)
        if ends is None:
            raise enclosure.failure or SandboxError("init", "no process was made")
        number = struct.pack("i", os.getpid())
        may_follow = Supervisor(
            channel,
            post.life,
            spec,
            post.machine,
            enclosure,
            ends,
            lambda: os.write(post.taken, number),
            # Those who wait to be served are to hear that nobody will.
            post.listener.close if post.outlives else None,
        ).run(kept)
        return may_follow and post.listener.fileno() >= 0
    except SandboxError as error:
        channel.send_json(FAILED, {"stage": error.stage, "message": error.message})
    except ProtocolError as error:
        channel.send_json(FAILED, {"stage": "protocol", "message": str(error)})
    finally:
        channel.close()
    return False
