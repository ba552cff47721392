/** Manages a runtime's resident processes. A process belongs to one script, and to one version of the script's
 *  files, settings and secrets. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { RunChannel } from './run-channel.ts';
import { SandboxError } from './sandbox.ts';
import type { PreparedRun, ResidentRun, RunObserver, RunSpec } from './sandbox.ts';

export interface ResidentsOptions {
  /** Opens a connection to a new supervisor. */
  readonly connect: () => Promise<Socket>;
  /** Whether processes can be reused. This requires that the machine can suspend a process between two runs. */
  readonly canReuse: boolean;
  /**
   * The maximum number of idle processes of all scripts. When the limit is exceeded, the process that has been idle
   * longest is stopped.
   */
  readonly maxIdle: number;
}

type ResidentSpec = RunSpec & { readonly resident: ResidentRun };

/** Matches variables whose values can differ between the runs of one process. */
const variablesOfRuns = /^ORCH_/;

export class Residents {
  readonly #options: ResidentsOptions;
  readonly #processes = new Set<ResidentProcess>();
  /** The key of each script's latest run. */
  readonly #latest = new Map<string, string>();
  #isStopping = false;

  constructor(options: ResidentsOptions) {
    this.#options = options;
  }

  /** The scripts that currently have a process. */
  get scripts(): readonly string[] {
    return [...this.#processes].map(({ scriptId }) => scriptId);
  }

  /** Prepares a run in an idle process, or in a new one if no process is idle.
   *  @throws SandboxError if a new process cannot be prepared */
  async prepare(spec: ResidentSpec, observer: RunObserver): Promise<PreparedRun> {
    const key = keyOf(spec);
    const { scriptId } = spec;
    this.#latest.set(scriptId, key);
    for (const one of this.#idle()) {
      if (one.scriptId === scriptId && one.key !== key) one.end();
    }
    for (;;) {
      const idle = this.#idle().findLast((one) => one.key === key);
      if (idle === undefined) break;
      try {
        return this.#keepAfter(idle, spec, await idle.prepare(spec, observer));
      } catch (error) {
        // The idle process has exited in the meantime, before executing any code of the run.
        if (!(error instanceof SandboxError)) throw error;
      }
    }
    return await this.#start(key, spec, observer);
  }

  /**
   * Stops a script's processes. An active process exits after its run. Resolves when the idle processes have exited.
   */
  async forget(scriptId: string): Promise<void> {
    this.#latest.delete(scriptId);
    await this.#endIdle((one) => one.scriptId === scriptId);
  }

  /** Stops all processes. Active processes exit after their runs. Resolves when the idle processes have exited. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#endIdle(() => true);
  }

  async #start(key: string, spec: ResidentSpec, observer: RunObserver): Promise<PreparedRun> {
    const channel = new RunChannel(await this.#options.connect());
    const others = [...this.#processes].filter((one) => one.key === key && !one.isEnding).length;
    const { resident } = spec;
    // A process that exceeds the limit executes only one run.
    const maxRuns = this.#options.canReuse && others < resident.processes ? resident.maxRuns : 1;
    const process = new ResidentProcess(channel, { key, maxRuns, spec });
    const release = resident.hold();
    this.#processes.add(process);
    void channel.closed.then(() => {
      this.#processes.delete(process);
      release();
    });
    return this.#keepAfter(process, spec, await process.prepare(spec, observer));
  }

  /** Keeps the process after the run if another run may follow. Otherwise, stops the process. */
  #keepAfter(process: ResidentProcess, spec: ResidentSpec, prepared: PreparedRun): PreparedRun {
    void prepared.finished.then(() => {
      process.learn(spec.resident.log.maskedValues());
      const isLatest = this.#latest.get(process.scriptId) === process.key;
      if (!process.isIdle || !isLatest || this.#isStopping) {
        process.end();
        return;
      }
      process.endAfter(spec.resident.idleSeconds);
      const idle = this.#idle();
      for (const one of idle.slice(0, Math.max(0, idle.length - this.#options.maxIdle))) one.end();
    });
    return prepared;
  }

  /** Returns the idle processes. The process that has been idle longest comes first. */
  #idle(): ResidentProcess[] {
    return [...this.#processes]
      .filter((one) => one.isIdle)
      .toSorted((one, other) => one.idleSince - other.idleSince);
  }

  async #endIdle(chosen: (process: ResidentProcess) => boolean): Promise<void> {
    const ending = this.#idle().filter((one) => chosen(one));
    for (const one of ending) one.end();
    await Promise.all(ending.map((one) => one.closed));
  }
}

interface ResidentOrder {
  readonly key: string;
  readonly maxRuns: number;
  /** The specification of the process's first run. */
  readonly spec: ResidentSpec;
}

/** A resident process, with the channel to its supervisor. */
class ResidentProcess {
  readonly key: string;
  readonly scriptId: string;
  idleSince = 0;
  readonly #channel: RunChannel;
  readonly #maxRuns: number;
  readonly #socketPath: string | undefined;
  readonly #secrets = new Set<string>();
  #runs = 0;
  #isEnding = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(channel: RunChannel, { key, maxRuns, spec }: ResidentOrder) {
    this.key = key;
    this.scriptId = spec.scriptId;
    this.#channel = channel;
    this.#maxRuns = maxRuns;
    this.#socketPath = spec.sdk?.path;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  get isIdle(): boolean {
    return this.#runs > 0 && !this.#isEnding && this.#channel.isIdle;
  }

  get closed(): Promise<void> {
    return this.#channel.closed;
  }

  /** Prepares the next run.
   *  @throws SandboxError if the process has exited */
  async prepare(spec: ResidentSpec, observer: RunObserver): Promise<PreparedRun> {
    clearTimeout(this.#idleTimer);
    // Also masks secrets from earlier runs, because they are still in the process's memory and may be printed.
    spec.resident.log.mask([...this.#secrets]);
    this.#runs += 1;
    const isLast = this.#runs >= this.#maxRuns;
    this.#isEnding ||= isLast;
    const next = this.#runs === 1 ? spec : this.#nextRun(spec);
    return await this.#channel.prepare(next, observer, isLast);
  }

  /** Adds secrets that a run has read, so that later runs mask them. */
  learn(secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.add(secret);
  }

  endAfter(seconds: number): void {
    this.idleSince = performance.now();
    this.#idleTimer = setTimeout(() => this.end(), seconds * 1000).unref();
  }

  end(): void {
    clearTimeout(this.#idleTimer);
    this.#isEnding = true;
    this.#channel.end();
  }

  /** Returns the specification for the process's next run. The files are already in the workspace, and the path of
   *  the socket stays the same. */
  #nextRun(spec: ResidentSpec): ResidentSpec {
    const { env } = spec;
    return {
      ...spec,
      files: [],
      env: this.#socketPath === undefined ? env : { ...env, ORCH_SOCKET: this.#socketPath },
    };
  }
}

/** Returns the key of a run. A process can execute runs with equal keys. The key is a hash, because it depends on
 *  secrets. */
function keyOf({ resident, env, runId, sdk, readWrite, limits, ...spec }: ResidentSpec): string {
  // Excludes the time limit, which the supervisor enforces for each run.
  const { wallClockSeconds: _, ...processLimits } = limits;
  const variables = Object.entries(env).filter(([name]) => !variablesOfRuns.test(name));
  const folders = readWrite.filter((path) => path !== sdk?.path);
  const { revision } = resident;
  const parts = { ...spec, variables, folders, limits: processLimits, revision };
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
