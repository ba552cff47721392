/** Implements the `Sandbox` port on this machine. A launcher process or a keeper executes the runs. */
import { encodeFrame, FrameReader, FROM_SUPERVISOR, TO_SUPERVISOR } from './frames.ts';
import { Keepers } from './keepers.ts';
import { Residents } from './residents.ts';
import { layerFlags, Launcher } from './launcher.ts';
import type { LauncherOptions } from './launcher.ts';
import { prepareRun } from './run-channel.ts';
import { SandboxError } from './sandbox.ts';
import type { PreparedRun, RunObserver, RunSpec, Sandbox, SandboxLayers } from './sandbox.ts';
import { layersFromWire } from './wire.ts';

/**
 * The layers that keepers require. Without these layers, a run could outlive its keeper, or its files could have a
 * different path.
 */
const NEEDED_TO_KEEP = ['pid_namespace', 'mount_namespace'];
/** The layers that resident processes require. Without these layers, the platform cannot suspend a process between
 *  two runs, or cannot measure its usage. */
const NEEDED_TO_REUSE = [...NEEDED_TO_KEEP, 'measuring'];
const WARM_PREPARATION_MS = 5_000;

export interface LocalSandboxOptions extends LauncherOptions {
  /** The maximum number of warm interpreters. Default: none. */
  readonly maxKeepers?: number;
  /** The maximum memory of all warm interpreters together, in bytes. Default: no limit. */
  readonly maxKeeperBytes?: number;
  /** The maximum number of idle resident processes. Default: none. */
  readonly maxResidents?: number;
  /** The maximum number of runs per warm interpreter. Default: 1000. */
  readonly maxRunsOfKeeper?: number;
  /** The time limit for preparing a run in a warm interpreter, in milliseconds. Default: 5000. */
  readonly warmPreparationMs?: number;
}

/** Starts the launcher, which `stop()` stops.
 *  @throws SandboxError if the launcher does not start */
export async function startLocalSandbox(options: LocalSandboxOptions): Promise<LocalSandbox> {
  const launcher = new Launcher(options);
  try {
    await launcher.start();
    const { layers } = await probe(launcher);
    const names = layers.filter(({ available }) => available).map(({ name }) => name);
    const mayKeep = NEEDED_TO_KEEP.every((needed) => names.includes(needed));
    const keepers = new Keepers({
      runsFolder: options.runsFolder,
      flags: layerFlags(options),
      maxKeepers: mayKeep ? (options.maxKeepers ?? 0) : 0,
      maxMemoryBytes: options.maxKeeperBytes ?? Number.POSITIVE_INFINITY,
      ...(options.maxRunsOfKeeper !== undefined && { maxRuns: options.maxRunsOfKeeper }),
      onLog: options.onLog,
    });
    const residents = new Residents({
      connect: () => launcher.connect(),
      canReuse: NEEDED_TO_REUSE.every((needed) => names.includes(needed)),
      maxIdle: options.maxResidents ?? 0,
    });
    const { warmPreparationMs = WARM_PREPARATION_MS } = options;
    return new LocalSandbox(launcher, { keepers, residents }, names, warmPreparationMs);
  } catch (error) {
    await launcher.stop();
    throw error;
  }
}

export class LocalSandbox implements Sandbox {
  readonly layers: readonly string[];
  readonly #launcher: Launcher;
  readonly #keepers: Keepers;
  readonly #residents: Residents;
  readonly #warmPreparationMs: number;

  constructor(
    launcher: Launcher,
    { keepers, residents }: { readonly keepers: Keepers; readonly residents: Residents },
    layers: readonly string[],
    warmPreparationMs: number,
  ) {
    this.layers = layers;
    this.#launcher = launcher;
    this.#keepers = keepers;
    this.#residents = residents;
    this.#warmPreparationMs = warmPreparationMs;
  }

  async prepare(spec: RunSpec, observer: RunObserver): Promise<PreparedRun> {
    const { resident } = spec;
    if (resident !== undefined) {
      return await this.#residents.prepare({ ...spec, resident }, observer);
    }
    const warm = await this.#prepareWarm(spec, observer);
    if (warm !== undefined) return warm;
    const prepared = await prepareRun(await this.#launcher.connect(), spec, observer);
    void prepared.closed.then(() => this.#keepers.want(spec));
    return prepared;
  }

  probe(): Promise<SandboxLayers> {
    return probe(this.#launcher);
  }

  /** Stops the resident processes, the keepers and the launcher. The caller must stop or kill active runs first. */
  async stop(): Promise<void> {
    await this.#residents.stop();
    await Promise.all([this.#keepers.stop(), this.#launcher.stop()]);
  }

  /** The process ID of the launcher, if it is alive. */
  get launcherPid(): number | undefined {
    return this.#launcher.pid;
  }

  /** Resolves when all requested keepers exist. */
  get keepersMade(): Promise<void> {
    return this.#keepers.made;
  }

  /** Scripts that have a warm interpreter or a resident process. */
  get scripts(): readonly string[] {
    return [...this.#keepers.scripts, ...this.#residents.scripts];
  }

  /** Stops a script's keepers, and removes their prepared files. */
  async forget(scriptId: string): Promise<void> {
    await Promise.all([this.#keepers.forget(scriptId), this.#residents.forget(scriptId)]);
  }

  /** The process IDs of the current keepers. */
  get keeperPids(): readonly number[] {
    return this.#keepers.pids;
  }

  /** Prepares a run in a warm interpreter.
   *  @returns `undefined` if no keeper could prepare the run. In this case, nothing was executed, and no processes or
   *  files remain */
  async #prepareWarm(spec: RunSpec, observer: RunObserver): Promise<PreparedRun | undefined> {
    const keeper = this.#keepers.take(spec);
    if (keeper === undefined) return undefined;
    // Kills the keeper if it hangs. The connection then closes, so the preparation fails.
    const impatient = setTimeout(() => keeper.kill(), this.#warmPreparationMs);
    try {
      const prepared = await prepareRun(await keeper.connect(), spec, observer);
      this.#keepers.succeeded(spec);
      return prepared;
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      this.#keepers.failed(spec);
      return undefined;
    } finally {
      clearTimeout(impatient);
    }
  }
}

async function probe(launcher: Launcher): Promise<SandboxLayers> {
  const socket = await launcher.connect();
  socket.write(encodeFrame(TO_SUPERVISOR.probe, {}));
  const reader = new FrameReader();
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    for (const frame of reader.push(chunk)) {
      if (frame.kind === FROM_SUPERVISOR.layers) return layersFromWire(frame.payload);
    }
  }
  throw new SandboxError('launcher', 'the launcher ended without reporting its layers');
}
