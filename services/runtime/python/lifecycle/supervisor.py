"""Supervises one run: serves its channel, monitors its processes, and reports its end.

The run's processes never outlive their supervisor. The supervisor kills them when the channel closes, when the lease
expires, or when the launcher has ended. If the supervisor itself is killed, the kernel kills them.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from typing import Callable, Dict, Optional, Sequence

from containment.disk_quota import DiskQuota
from containment.layers import active_layers
from containment.listen_calls import Listening, answer_listen
from containment.machine import Machine
from containment.reusable_folder import ReusableFolder
from containment.run_context import pack_run
from containment.usage_limits import UsageMonitor
from containment.workspace import copy_files, measure_disk, prepare_workspace
from kernel.mounts import workspace_path
from wire import process_messages as messages
from wire.channel import Channel
from wire.frames import EXIT, FAILED, GO, HEARTBEAT, KILL, READY, SAMPLE, STOP, SandboxError
from wire.run_spec import RunSpec

from .enclosure import Enclosure, ScriptPipes, Usage
from .exit_reason import ExitReason
from .output import Output
from .sdk_broker import SdkBroker

_FLUSH_AFTER_LOSS_SECONDS, NEVER = 2.0, float("inf")


class Supervisor:
    """Prepares and executes one run, and reports its outcome. `run` performs all these steps."""

    def __init__(
        self,
        channel: Channel,
        life: int,
        spec: RunSpec,
        machine: Machine,
        enclosure: Enclosure,
        pipes: ScriptPipes,
        on_ready: Callable[[], object],
        on_orphaned: Optional[Callable[[], object]],
    ) -> None:
        """@param life a descriptor that reaches end of file when the launcher has exited
        @param pipes the connections to the script's process
        @param on_ready called when the run is prepared
        @param on_orphaned called when the launcher has exited. If None, the run is stopped instead
        """
        self._channel = channel
        self._life = life
        self._machine = machine
        self._enclosure = enclosure
        self._pipes = pipes
        self._on_ready = on_ready
        self._on_orphaned = on_orphaned
        self._begin(spec)
        self._output = Output(
            channel,
            pipes.stdout,
            pipes.stderr,
            lambda data: self._exit_reason.remember_stderr(data),
            spec.merge_stderr,
        )
        self._poller = select.poll()
        # All descriptors without a handler are output.
        self._handlers: Dict[int, Callable[[], None]] = {}
        self._script = 0
        self._over = False
        self._has_ended = False
        self._is_swept = False
        self._user: Optional[int] = None
        # The descriptor that receives the run's listen(2) calls.
        self._listener: Optional[int] = None
        self._disk: Optional[DiskQuota] = None
        self._broker: Optional[SdkBroker] = None

    def _begin(self, spec: RunSpec) -> None:
        """Initializes the state for one run."""
        self._spec = spec
        self._exit_reason = ExitReason(spec)
        self._lease_ends_at = time.monotonic() + spec.lease_ms / 1000
        self._wall_clock_ends_at = NEVER
        self._started_at: Optional[float] = None
        self._kill_at = NEVER
        self._monitor: Optional[UsageMonitor] = None

    def run(self, reusable: ReusableFolder) -> bool:
        """Executes the run. Returns when all its processes are dead and its folder is removed or kept.

        @param reusable holds the folder of the previous run, and afterwards the folder of this run
        @returns whether the enclosure may execute another run
        @raises SandboxError if the run cannot be prepared. In this case, no processes or files remain
        """
        try:
            self._folder = reusable.open(self._spec.run_id)
        except OSError as error:
            raise SandboxError("workspace", str(error)) from error
        try:
            self._prepare()
            while not self._over:
                self._output.poll_with(self._poller)
                self._poller.modify(self._channel.fileno(), self._channel.wanted)
                for fd, _event in self._poller.poll(self._wait_ms()):
                    handler = self._handlers.get(fd)
                    if handler is None:
                        self._output.pump(fd)
                    else:
                        handler()
                self._check_deadlines(time.monotonic())
            return self._end()
        finally:
            if self._broker is not None:
                self._broker.close()
            if self._listener is not None:
                os.close(self._listener)
            if self._is_swept:
                reusable.keep(self._folder)
            else:
                self._enclosure.kill()
                self._enclosure.reap()
                self._folder.remove()

    def _prepare(self) -> None:
        spec, pipes, group = self._spec, self._pipes, self._enclosure.group
        try:
            if group is not None:
                group.limit(spec.limits.memory_bytes, spec.limits.processes)
            if spec.sdk is not None:
                init = self._enclosure.init if self._machine.has("caller_check") else None
                self._broker = SdkBroker(spec.sdk, init)
                self._register(self._broker.fileno(), self._broker.serve)
            workspace = prepare_workspace(
                spec, self._machine, self._folder, (pipes.stdout, pipes.stderr)
            )
            self._user = workspace.user
            # The script's process contains itself while the files are copied.
            run = pack_run(spec, self._folder, workspace.user)
            messages.send_run(pipes.gate, run, self._for_script())
            copy_files(spec.files, self._folder, workspace.data)
        except OSError as error:
            raise SandboxError("supervisor", str(error)) from error
        self._register(pipes.gate.fileno(), self._on_gate)
        self._register(self._enclosure.fileno(), self._on_init)
        self._register(self._channel.fileno(), self._on_channel)
        self._register(self._life, self._on_life)

    def _for_script(self) -> Sequence[int]:
        """Returns additional descriptors that the script's process inherits."""
        return ()

    def _register(self, fd: int, handler: Callable[[], None]) -> None:
        self._handlers[fd] = handler
        self._poller.register(fd, select.POLLIN)

    # --- messages ------------------------------------------------------------------------------

    def _on_gate(self) -> None:
        message = messages.receive(self._pipes.gate)
        if message.kind == messages.READY:
            self._script = message.sender
            if message.descriptor is not None:
                self._on_listens(message.descriptor)
            self._report_ready()
        elif message.kind == messages.FAILED:
            self._exit_reason.failed(messages.content_of(message))
            self._finish()
        elif message.kind == messages.ENDED and self._monitor is None:
            self._exit_reason.failed(
                {"stage": "init", "message": "the script's process was killed"}
            )
            self._finish()
        elif message.kind == messages.ENDED:
            self._has_ended = True
            self._exit_reason.script_ended(messages.content_of(message))
            self._finish()
        else:
            # The init was killed by this supervisor, or by the kernel because memory ran out.
            self._finish()

    def _on_init(self) -> None:
        # The init sends nothing during a run, so this event means that the init has exited.
        self._finish()

    def _on_listens(self, listener: int) -> None:
        listening = Listening(self._spec.listen_ports, self._user)

        def answer() -> None:
            if not answer_listen(listener, listening):
                self._poller.unregister(listener)

        self._listener = listener
        self._register(listener, answer)

    def _on_life(self) -> None:
        if self._on_orphaned is None:
            self._finish()
            return
        self._poller.unregister(self._life)
        self._on_orphaned()

    def _report_ready(self) -> None:
        contained = self._machine.has("mount_namespace")
        workspace = workspace_path(self._spec.script_id) if contained else self._folder.files
        layers = [layer.name for layer in active_layers(self._machine)]
        self._ready = {"pid": self._script, "workspace": workspace, "layers": layers}
        self._channel.send_json(READY, self._ready)
        self._on_ready()
        # Measures the disk before GO arrives, so that the measurement does not delay the start.
        try:
            self._disk = measure_disk(self._spec, self._folder)
        except OSError as error:
            raise SandboxError("supervisor", str(error)) from error

    def _on_channel(self) -> None:
        self._channel.flush()
        for kind, payload in self._channel.receive():
            self._on_frame(kind, payload)
        if not self._channel.open:
            self._finish()

    def _on_frame(self, kind: bytes, payload: bytes) -> None:
        content = json.loads(payload) if payload else {}
        if kind == GO:
            self._go()
        elif kind == STOP:
            self._stop("stopped", content.get("grace_ms", self._spec.stop_grace_ms))
        elif kind == KILL:
            self._kill("stopped")
        elif kind == HEARTBEAT:
            lease_ms = content.get("lease_ms", self._spec.lease_ms)
            self._lease_ends_at = time.monotonic() + lease_ms / 1000

    # --- start and stop ------------------------------------------------------------------------

    def _go(self) -> None:
        if self._monitor is not None or not self._script:
            return
        try:
            # Sends GO first, because the script is waiting for it.
            self._pipes.gate.send(messages.GO)
        except OSError:
            self._finish()
        self._start_clock(self._enclosure.waited_cpu_seconds)

    def _start_clock(self, past_cpu_seconds: float) -> None:
        """Starts measuring the run.

        @param past_cpu_seconds the CPU time of earlier runs
        """
        now = self._started_at = time.monotonic()
        enclosure = self._enclosure
        self._monitor = UsageMonitor(
            self._spec.limits,
            enclosure.proc,
            enclosure.init,
            self._disk,
            enclosure.group,
            self._machine.has("measuring"),
            past_cpu_seconds,
        )
        self._monitor.start(now)
        if self._spec.limits.wall_clock_seconds is not None:
            self._wall_clock_ends_at = now + self._spec.limits.wall_clock_seconds

    def _stop(self, reason: str, grace_ms: float, detail: Optional[str] = None) -> None:
        self._exit_reason.because(reason, detail)
        self._kill_at = min(self._kill_at, time.monotonic() + grace_ms / 1000)
        if self._monitor is None:
            # The script is not executing yet, so it cannot handle a signal.
            self._finish()
            return
        self._enclosure.signal_group(self._script, signal.SIGTERM)
        # A stopped process does not receive SIGTERM.
        self._enclosure.signal_group(self._script, signal.SIGCONT)

    def _kill(self, reason: Optional[str], detail: Optional[str] = None) -> None:
        self._exit_reason.because(reason, detail)
        self._finish()

    def _finish(self) -> None:
        self._over = True

    def _wait_ms(self) -> float:
        due = min(self._lease_ends_at, self._wall_clock_ends_at, self._kill_at)
        if self._monitor is not None:
            due = min(due, self._monitor.due_at)
        return max(0.0, (due - time.monotonic()) * 1000)

    def _check_deadlines(self, now: float) -> None:
        limit_seconds = self._spec.limits.wall_clock_seconds
        if now >= self._lease_ends_at:
            self._kill("lease_lost", "the runtime missed its heartbeat")
        elif now >= self._kill_at:
            self._finish()
        elif limit_seconds is not None and now >= self._wall_clock_ends_at:
            self._wall_clock_ends_at = NEVER
            detail = f"time limit of {limit_seconds:g} s exceeded: the run was still active"
            self._stop("timeout", self._spec.stop_grace_ms, detail)
        elif self._monitor is not None and now >= self._monitor.due_at:
            breach = self._monitor.sample()
            if self._monitor.report_due(now):
                self._channel.send_json(SAMPLE, self._monitor.totals._asdict())
            if breach is not None:
                self._kill(breach.reason, breach.detail)
            elif self._kill_at != NEVER:
                # The script may have stopped itself after SIGTERM.
                self._enclosure.signal_group(self._script, signal.SIGCONT)

    # --- cleanup and outcome ---------------------------------------------------------------------

    def _end(self) -> bool:
        """Kills all processes, then sends the remaining output, and then the outcome."""
        swept = None
        if self._has_ended:
            swept = self._enclosure.sweep()
        self._is_swept = swept is not None
        if swept is None:
            self._enclosure.kill()
            self._enclosure.reap()
        # Sending the remaining output takes a long time if the runtime's storage is slow.
        ended_at = time.monotonic()
        self._output.drain(lambda: self._flush_channel(everything=False))
        failure = self._exit_reason.failure
        if failure is not None:
            self._channel.send_json(FAILED, failure)
        else:
            usage = swept or self._usage()
            seconds = 0.0 if self._started_at is None else ended_at - self._started_at
            self._channel.send_json(EXIT, self._exit_reason.describe(self._monitor, usage, seconds))
        self._flush_channel(everything=True)
        return self._is_swept

    def _usage(self) -> Usage:
        """Returns the run's resource usage. All its processes must be dead and reaped."""
        return self._enclosure.usage(self._exit_reason.own_cpu_seconds)

    def _flush_channel(self, everything: bool) -> None:
        """Waits until the runtime has received all pending frames. Gives up a while after the lease is lost."""
        poller = select.poll()
        given_up_at = time.monotonic() + _FLUSH_AFTER_LOSS_SECONDS
        while self._channel.full or (everything and not self._channel.flushed):
            wait = max(given_up_at, self._lease_ends_at) - time.monotonic()
            if wait <= 0 or not self._channel.open:
                return
            poller.register(self._channel.fileno(), self._channel.wanted)
            poller.poll(wait * 1000)
            self._on_channel()
