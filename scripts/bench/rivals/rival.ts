/** The interface that each product implements, and the measurement. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { inParallel } from '../complete-runs.ts';
import { median } from '../report.ts';

/** The measurements of one round. */
export interface Figures {
  /** The time from the request until the client learns that the run has finished. */
  readonly finishedMs: number;
  /** The time from the request until the script executes its first statement. */
  readonly firstLineMs: number;
  /** Finished runs per second with concurrent clients. */
  readonly perSecond: number;
}

export interface Rival {
  readonly name: string;
  /** Starts the product's processes.
   *  @param folder an empty folder for the product's data
   *  @throws NotAvailable */
  start(folder: string): Promise<RunningRival>;
}

export interface RunningRival {
  /** Performs one round of measurements. */
  measure(): Promise<Figures>;
  stop(): Promise<void>;
}

/** The product cannot be measured on this machine. */
export class NotAvailable extends Error {}

export interface Rounds {
  /** The number of runs to execute one after another. */
  readonly sequential: number;
  /** The number of runs to request from concurrent clients. */
  readonly concurrent: number;
}

/** The start timeout, which is long because the machine may be busy. No result depends on this timeout. */
export const startTimeoutMs = 300_000;
const clients = 8;

export interface Client<Run> {
  /** Requests a run and waits for it to finish. */
  run(): Promise<Run>;
  /** When the script executed its first statement, in milliseconds since 1970. */
  firstLineAt(run: Run): Promise<number> | number;
}

export async function measureRuns<Run>(
  client: Client<Run>,
  { sequential, concurrent }: Rounds,
): Promise<Figures> {
  const finished: number[] = [];
  const first: number[] = [];
  for (let done = 0; done < sequential; done += 1) {
    const startedAt = epochMs();
    const run = await client.run();
    finished.push(epochMs() - startedAt);
    first.push((await client.firstLineAt(run)) - startedAt);
  }
  const startedAt = epochMs();
  await inParallel(concurrent, clients, () => client.run());
  const perSecond = (concurrent * 1000) / (epochMs() - startedAt);
  return { finishedMs: median(finished), firstLineMs: median(first), perSecond };
}

/** Milliseconds since 1970, with fractions. */
export const epochMs = () => performance.timeOrigin + performance.now();

/** Active process groups. This process must kill them before it exits. */
const running = new Set<number>();
process.once('exit', endAll);
process.once('SIGTERM', () => process.exit(143));

function endAll(): void {
  for (const pid of running) process.kill(-pid, 'SIGKILL');
  running.clear();
}

/** A rival's process, which is stopped when this process exits. */
export class Service {
  readonly child: ChildProcess;

  constructor(command: string, args: readonly string[], options: SpawnOptions = {}) {
    this.child = spawn(command, args, { stdio: 'ignore', ...options, detached: true });
    this.child.on('error', () => undefined);
    const { pid } = this.child;
    if (pid === undefined) return;
    running.add(pid);
    this.child.once('exit', () => running.delete(pid));
  }

  /** Kills the process and its descendants. */
  async stop(): Promise<void> {
    const { pid } = this.child;
    if (pid === undefined || !running.has(pid)) return;
    const ended = once(this.child, 'exit');
    process.kill(-pid, 'SIGTERM');
    const hurry = setTimeout(() => process.kill(-pid, 'SIGKILL'), 10_000);
    await ended;
    clearTimeout(hurry);
  }
}
