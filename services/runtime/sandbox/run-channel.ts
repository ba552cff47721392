/** The channel of a run: a connection to its supervisor, which kills all processes when it closes. */
import type { Socket } from 'node:net';
import { encodeFrame, FrameReader, FROM_SUPERVISOR, TO_SUPERVISOR } from './frames.ts';
import type { Frame, FrameToSupervisor } from './frames.ts';
import { SandboxError } from './sandbox.ts';
import type { PreparedRun, RunExit, RunObserver, RunSpec } from './sandbox.ts';
import {
  exitFromWire,
  failureFromWire,
  readyFromWire,
  sampleFromWire,
  specToWire,
} from './wire.ts';
import type { Ready } from './wire.ts';

/** Prepares a run over a new connection.
 *  @throws SandboxError if the supervisor cannot prepare it, or the connection breaks before */
export async function prepareRun(
  socket: Socket,
  spec: RunSpec,
  observer: RunObserver,
): Promise<PreparedRun> {
  const channel = new RunChannel(socket, observer);
  channel.send(TO_SUPERVISOR.spec, specToWire(spec));
  void channel.listen();
  try {
    return channel.prepared(await channel.ready);
  } catch (error) {
    // Only now is everything removed, so that the run may be retried.
    await channel.closed;
    throw error;
  }
}

class RunChannel {
  readonly ready: Promise<Ready>;
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #observer: RunObserver;
  readonly #reader = new FrameReader();
  readonly #ready = Promise.withResolvers<Ready>();
  readonly #finished = Promise.withResolvers<RunExit>();
  readonly #closed = Promise.withResolvers<void>();

  constructor(socket: Socket, observer: RunObserver) {
    this.#socket = socket;
    this.#observer = observer;
    this.ready = this.#ready.promise;
    this.closed = this.#closed.promise;
  }

  send(kind: FrameToSupervisor, content: object = {}): void {
    if (this.#socket.writable) this.#socket.write(encodeFrame(kind, content));
  }

  /** Handles frames one by one until the connection ends. While the observer is busy, reading is
   *  paused. */
  async listen(): Promise<void> {
    let lost = 'the channel closed before the run ended';
    try {
      for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
        for (const frame of this.#reader.push(chunk)) {
          const busy = this.#handle(frame);
          if (busy !== undefined) await busy;
        }
      }
    } catch (error) {
      lost = error instanceof Error ? error.message : String(error);
    }
    this.#socket.destroy();
    this.#ready.reject(new SandboxError('channel', lost));
    this.#finished.resolve({ kind: 'lost', message: lost });
    this.#closed.resolve();
  }

  prepared(ready: Ready): PreparedRun {
    const send = this.send.bind(this);
    return {
      ...ready,
      finished: this.#finished.promise,
      closed: this.#closed.promise,
      go: () => send(TO_SUPERVISOR.go),
      stop: (graceMs) => send(TO_SUPERVISOR.stop, { grace_ms: graceMs }),
      kill: () => send(TO_SUPERVISOR.kill),
      heartbeat: (leaseMs) => send(TO_SUPERVISOR.heartbeat, { lease_ms: leaseMs }),
    };
  }

  #handle(frame: Frame): void | Promise<void> {
    switch (frame.kind) {
      case FROM_SUPERVISOR.stdout:
        return this.#observer.output('stdout', frame.payload);
      case FROM_SUPERVISOR.stderr:
        return this.#observer.output('stderr', frame.payload);
      case FROM_SUPERVISOR.sample:
        return this.#observer.sample(sampleFromWire(frame.payload));
      case FROM_SUPERVISOR.ready:
        return this.#ready.resolve(readyFromWire(frame.payload));
      case FROM_SUPERVISOR.exit:
        return this.#finished.resolve(exitFromWire(frame.payload));
      case FROM_SUPERVISOR.failed:
        return this.#fail(frame.payload);
      default:
        throw new Error(`unknown frame ${JSON.stringify(frame.kind)}`);
    }
  }

  #fail(payload: Buffer): void {
    const { stage, message } = failureFromWire(payload);
    this.#ready.reject(new SandboxError(stage, message));
    this.#finished.resolve({ kind: 'failed', stage, message });
  }
}
