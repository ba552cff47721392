/** Runs fixtures in a sandbox with its own launcher and folders, and collects the outcomes. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalSandbox } from '../local-sandbox.ts';
import type { LocalSandbox, LocalSandboxOptions } from '../local-sandbox.ts';
import { findPython, listPythons } from '../python.ts';
import type { Python } from '../python.ts';
import type {
  PreparedRun,
  RunExit,
  RunLimits,
  RunObserver,
  RunSample,
  RunSpec,
} from '../sandbox.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));
const POLL_MS = 5;

/** Disabling these namespaces also disables all other namespaces. */
export const NAMESPACES = ['user_namespace', 'pid_namespace'];

export const NO_LIMITS: RunLimits = {
  cpuSeconds: null,
  memoryBytes: null,
  addressSpaceBytes: null,
  openFiles: null,
  processes: null,
  wallClockSeconds: null,
  diskBytes: null,
};

export interface Outcome {
  readonly run: PreparedRun;
  readonly exit: RunExit;
  readonly stdout: string;
  readonly stderr: string;
  readonly samples: readonly RunSample[];
}

/** An active run. `seen` waits until its output contains a text. */
export interface Running {
  readonly run: PreparedRun;
  readonly runId: string;
  readonly output: { stdout: string; stderr: string };
  readonly samples: readonly RunSample[];
  seen(text: string): Promise<void>;
  outcome(): Promise<Outcome>;
}

export class Bench {
  readonly folder: string;
  readonly python: Python;
  readonly sandbox: LocalSandbox;
  readonly log: string[];
  #runs = 0;

  private constructor(folder: string, python: Python, sandbox: LocalSandbox, log: string[]) {
    this.folder = folder;
    this.python = python;
    this.sandbox = sandbox;
    this.log = log;
  }

  /** Opens a test bench.
   *  @param options options for the launcher */
  static async open(options: Partial<LocalSandboxOptions> = {}): Promise<Bench> {
    const folder = await mkdtemp(join(tmpdir(), 'orch-bench-'));
    // Scripts may run as other users, who must be able to enter the folder.
    await chmod(folder, 0o755);
    // Without mounts, script users access the interpreter at its host path, so they must be able to reach this path.
    const reachable = async () => (leavesOutMounts(options) ? await systemPython() : undefined);
    const python = await findPython({
      configured: options.python ?? (await reachable()) ?? process.env['ORCH_PYTHON'],
      path: process.env['PATH'] ?? '',
    });
    const log: string[] = [];
    const sandbox = await startLocalSandbox({
      python: python.executable,
      runsFolder: join(folder, 'runs'),
      onLog: (line) => log.push(line),
      ...options,
    });
    await mkdir(join(folder, 'data'));
    return new Bench(folder, python, sandbox, log);
  }

  async close(): Promise<void> {
    await this.sandbox.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Returns the specification for a run of one fixture with the arguments `args`. */
  spec(fixture: string, args: readonly string[] = [], change: Partial<RunSpec> = {}): RunSpec {
    this.#runs += 1;
    return {
      runId: `run-${this.#runs}`,
      scriptId: 'script-1',
      user: 'script-1',
      argv: [this.python.executable, 'main.py', ...args],
      env: { PYTHONUNBUFFERED: '1' },
      workspaceEnv: ['HOME'],
      files: [{ path: 'main.py', source: join(FIXTURES, fixture), mode: 0o644 }],
      dataFolder: null,
      readOnly: this.python.prefixes,
      readWrite: [],
      hidden: [],
      listenPorts: [],
      limits: NO_LIMITS,
      leaseMs: 60_000,
      stopGraceMs: 10_000,
      ...change,
    };
  }

  async start(spec: RunSpec, wrap?: Partial<RunObserver>): Promise<Running> {
    const output = { stdout: '', stderr: '' };
    const samples: RunSample[] = [];
    const waiting = new Set<() => void>();
    const run = await this.sandbox.prepare(spec, {
      output(stream, chunk) {
        output[stream] += chunk.toString('latin1');
        for (const check of waiting) check();
        return wrap?.output?.(stream, chunk);
      },
      sample: (sample) => {
        samples.push(sample);
        wrap?.sample?.(sample);
      },
    });
    run.go();
    return {
      run,
      runId: spec.runId,
      output,
      samples,
      seen: (text) => seen(text, output, waiting, run),
      outcome: async () => ({ run, exit: await run.finished, ...output, samples }),
    };
  }

  async run(fixture: string, args: readonly string[] = [], change: Partial<RunSpec> = {}) {
    const running = await this.start(this.spec(fixture, args, change));
    return running.outcome();
  }
}

/** Returns the system's interpreter, which any user can execute. Returns `undefined` if the interpreter is missing
 *  or too old. */
export async function systemPython(): Promise<string | undefined> {
  const found = await listPythons('/usr/bin:/usr/local/bin');
  return found[0]?.executable;
}

function leavesOutMounts({ without = [] }: Partial<LocalSandboxOptions>): boolean {
  return without.some((layer) => layer === 'mount_namespace' || NAMESPACES.includes(layer));
}

async function seen(
  text: string,
  output: { stdout: string; stderr: string },
  waiting: Set<() => void>,
  run: PreparedRun,
): Promise<void> {
  const found = Promise.withResolvers<void>();
  const check = (): void => {
    if (output.stdout.includes(text) || output.stderr.includes(text)) found.resolve();
  };
  waiting.add(check);
  check();
  const ended = run.finished.then((exit) => {
    check();
    found.reject(new Error(`ended without "${text}": ${JSON.stringify({ exit, output })}`));
  });
  await Promise.race([found.promise, ended.then(() => found.promise)]);
  waiting.delete(check);
}

/** Resolves when no process has this ID. A zombie does not count. */
export async function gone(pid: number): Promise<void> {
  await until(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    return stat === '' || /\) Z /.test(stat);
  });
}

/** Returns the parent of a process. */
export async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Returns the IDs of host processes whose command line contains the text. */
export async function processesWith(text: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '');
    if (line.includes(text)) found.push(Number(name));
  }
  return found;
}

/** Returns the processes in a group that are not dead. */
export async function livingProcessesOf(group: number): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    // The program's name, in parentheses, may contain spaces.
    const [state = '', , groupOf] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(groupOf) === group && !'ZX'.includes(state)) found.push(Number(name));
  }
  return found;
}

/** Polls an external condition. The test's timeout limits the polling. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Returns the TCP port on which a server listens. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return address.port;
}
