/** The port `Sandbox` on this machine: runs under a launcher process. */
import { encodeFrame, FrameReader, FROM_SUPERVISOR, TO_SUPERVISOR } from './frames.ts';
import { Launcher } from './launcher.ts';
import type { LauncherOptions } from './launcher.ts';
import { prepareRun } from './run-channel.ts';
import { SandboxError } from './sandbox.ts';
import type { PreparedRun, RunObserver, RunSpec, Sandbox, SandboxLayers } from './sandbox.ts';
import { layersFromWire } from './wire.ts';

/** Starts the launcher; `stop()` ends it.
 *  @throws SandboxError when it does not start */
export async function startLocalSandbox(options: LauncherOptions): Promise<LocalSandbox> {
  const launcher = new Launcher(options);
  try {
    await launcher.start();
  } catch (error) {
    await launcher.stop();
    throw error;
  }
  return new LocalSandbox(launcher);
}

export class LocalSandbox implements Sandbox {
  readonly #launcher: Launcher;

  constructor(launcher: Launcher) {
    this.#launcher = launcher;
  }

  async prepare(spec: RunSpec, observer: RunObserver): Promise<PreparedRun> {
    return prepareRun(await this.#launcher.connect(), spec, observer);
  }

  async probe(): Promise<SandboxLayers> {
    const socket = await this.#launcher.connect();
    socket.write(encodeFrame(TO_SUPERVISOR.probe, {}));
    const reader = new FrameReader();
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      for (const frame of reader.push(chunk)) {
        if (frame.kind === FROM_SUPERVISOR.layers) return layersFromWire(frame.payload);
      }
    }
    throw new SandboxError('launcher', 'the launcher did not answer');
  }

  /** Ends the launcher. Runs that are still alive are given `stop()` or `kill()` first. */
  async stop(): Promise<void> {
    await this.#launcher.stop();
  }

  /** Process id of the launcher, if one is alive. */
  get launcherPid(): number | undefined {
    return this.#launcher.pid;
  }
}
