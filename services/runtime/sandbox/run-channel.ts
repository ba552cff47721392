/** The runtime's channel to a supervisor. When the channel closes, the supervisor kills all processes of the run. A
 *  resident process executes several runs one after another over a single channel. */
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
 *  @throws SandboxError if the supervisor cannot prepare the run, or if the connection breaks during the preparation */
export async function prepareRun(
  socket: Socket,
  spec: RunSpec,
  observer: RunObserver,
): Promise<PreparedRun> {
  return await new RunChannel(socket).prepare(spec, observer);
}

/** The current run of a channel. */
interface CurrentRun {
  readonly observer: RunObserver;
  readonly ready: PromiseWithResolvers<Ready>;
  readonly finished: PromiseWithResolvers<RunExit>;
  readonly closed: PromiseWithResolvers<void>;
}

export class RunChannel {
  /** Resolves when the channel is closed. By then, the process and its descendants have exited. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #reader = new FrameReader();
  #run: CurrentRun | undefined;
  #isIdle = true;
  #lost = 'the channel closed before the run ended';

  constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = this.#listen();
  }

  /** Whether the process is waiting for another run. */
  get isIdle(): boolean {
    return this.#isIdle && this.#socket.writable;
  }

  /** Prepares the next run. The previous run must have finished.
   *  @param isLast whether the resident process exits after this run
   *  @throws SandboxError if the supervisor cannot prepare the run, or if the connection breaks during the
   *  preparation */
  async prepare(spec: RunSpec, observer: RunObserver, isLast = true): Promise<PreparedRun> {
    const run: CurrentRun = {
      observer,
      ready: Promise.withResolvers(),
      finished: Promise.withResolvers(),
      closed: Promise.withResolvers(),
    };
    this.#run = run;
    this.#isIdle = false;
    this.#send(TO_SUPERVISOR.spec, specToWire(spec, isLast));
    void this.closed.then(() => this.#lose(run));
    try {
      return this.#prepared(run, await run.ready.promise);
    } catch (error) {
      // Waits until all traces of the run are removed, so that the caller can retry it.
      await this.closed;
      throw error;
    }
  }

  /** Stops the process. `closed` resolves when the process has exited. */
  end(): void {
    this.#socket.end();
  }

  #send(kind: FrameToSupervisor, content: object = {}): void {
    if (this.#socket.writable) this.#socket.write(encodeFrame(kind, content));
  }

  /** Handles frames one by one until the connection closes. Reading pauses while the observer is busy. */
  async #listen(): Promise<void> {
    try {
      for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
        for (const frame of this.#reader.push(chunk)) {
          const busy = this.#handle(frame);
          if (busy !== undefined) await busy;
        }
      }
    } catch (error) {
      this.#lost = error instanceof Error ? error.message : String(error);
    }
    this.#socket.destroy();
  }

  #lose({ ready, finished, closed }: CurrentRun): void {
    ready.reject(new SandboxError('channel', this.#lost));
    finished.resolve({ kind: 'lost', message: this.#lost });
    closed.resolve();
  }

  #prepared(run: CurrentRun, ready: Ready): PreparedRun {
    const send = (kind: FrameToSupervisor, content?: object) => {
      // Sends nothing after the run has finished, because the process may already be executing another run.
      if (this.#run === run) this.#send(kind, content);
    };
    return {
      ...ready,
      finished: run.finished.promise,
      closed: run.closed.promise,
      go: () => send(TO_SUPERVISOR.go),
      stop: (graceMs) => send(TO_SUPERVISOR.stop, { grace_ms: graceMs }),
      kill: () => send(TO_SUPERVISOR.kill),
      heartbeat: (leaseMs) => send(TO_SUPERVISOR.heartbeat, { lease_ms: leaseMs }),
    };
  }

  #handle(frame: Frame): void | Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    switch (frame.kind) {
      case FROM_SUPERVISOR.stdout:
        return run.observer.output('stdout', frame.payload);
      case FROM_SUPERVISOR.stderr:
        return run.observer.output('stderr', frame.payload);
      case FROM_SUPERVISOR.sample:
        return run.observer.sample(sampleFromWire(frame.payload));
      case FROM_SUPERVISOR.ready:
        return run.ready.resolve(readyFromWire(frame.payload));
      case FROM_SUPERVISOR.exit:
        return this.#exit(run, frame.payload);
      case FROM_SUPERVISOR.failed:
        return this.#fail(run, frame.payload);
      default:
        throw new Error(`unknown frame ${JSON.stringify(frame.kind)}`);
    }
  }

  #exit(run: CurrentRun, payload: Buffer): void {
    const { exit, isReusable } = exitFromWire(payload);
    if (isReusable) {
      this.#run = undefined;
      this.#isIdle = true;
      run.closed.resolve();
    }
    run.finished.resolve(exit);
  }

  #fail({ ready, finished }: CurrentRun, payload: Buffer): void {
    const { stage, message } = failureFromWire(payload);
    ready.reject(new SandboxError(stage, message));
    finished.resolve({ kind: 'failed', stage, message });
  }
}
