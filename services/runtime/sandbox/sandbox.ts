/** How the runtime starts, watches and ends the process of one run.
 *  The port knows nothing of events or queues: it promises that no process outlives its run,
 *  that a run's process exists once, and that the end is told exactly once. */

import type { BaseInterpreter } from '../environments/virtual-environment.ts';
import type { RunLog } from '../logs/run-log.ts';

/** The port. One `Sandbox` serves all runs of a runtime. */
export interface Sandbox {
  /** Makes everything ready and holds the script's process just before it executes.
   *  The caller then records the start and calls `go()`, or gives it up with `kill()`.
   *  @param observer receives output and samples from `go()` on
   *  @throws SandboxError when the run cannot be prepared (nothing is left over) */
  prepare(spec: RunSpec, observer: RunObserver): Promise<PreparedRun>;

  /** Names of the layers that runs have here, outermost last. */
  readonly layers: readonly string[];

  /** Which layers of containment this machine has, and why one is missing.
   *  @throws SandboxError when the launcher does not answer */
  probe(): Promise<SandboxLayers>;
}

/** A run whose process exists. All methods are safe to repeat and after the end. */
export interface PreparedRun {
  /** Process id of the script's main process as the host sees it. */
  readonly pid: number;
  /** The workspace's path as the script sees it: `/workspaces/{scriptId}`, or a host path where
   *  there is no mount namespace. */
  readonly workspace: string;
  /** Names of the layers this run has, outermost last. */
  readonly layers: readonly string[];

  /** Lets the script execute. */
  go(): void;
  /** SIGTERM to the process group, then SIGKILL of everything when the grace is over.
   *  A repeated call can only shorten the grace.
   *  @param graceMs default: `stopGraceMs` of the spec */
  stop(graceMs?: number): void;
  /** SIGKILL of everything at once. */
  kill(): void;
  /** Renews the lease: everything is killed when none comes for so long (monotonic clock).
   *  @param leaseMs counted from the arrival of the message; default: `leaseMs` of the spec */
  heartbeat(leaseMs?: number): void;

  /** The end of the run: every process of it is dead and the observer has taken all output.
   *  Never rejects. */
  readonly finished: Promise<RunExit>;
  /** After `finished`: the run's folder is removed too. Never rejects. */
  readonly closed: Promise<void>;
}

/** Receives what a running script produces. */
export interface RunObserver {
  /** A chunk as it came from the pipe: any length up to 64 KiB, not cut at lines or characters.
   *  While a returned promise is pending no more is read, and at last the script blocks on its
   *  pipe; a rejection ends the run as `lost`. */
  output(stream: OutputStream, chunk: Buffer): void | Promise<void>;
  /** Totals over the whole process tree, about once a second. */
  sample(sample: RunSample): void;
}

export type OutputStream = 'stdout' | 'stderr';

/** What is to be run, and in what bounds. All paths are absolute paths of the host. */
export interface RunSpec {
  readonly runId: string;
  readonly scriptId: string;
  /** Where there is a system user for each script: whose this run's is to be. Letters, digits, `-`
   *  and `_`; what the run may write to becomes that user's. */
  readonly user: string;
  /** `argv[0]` is an absolute path as the script sees it; relative arguments are relative to the
   *  workspace, which is the current folder. */
  readonly argv: readonly [string, ...string[]];
  /** The complete environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the sandbox sets to the workspace's path as the script sees it (`HOME`). */
  readonly workspaceEnv: readonly string[];
  /** Copied afresh into the workspace; nothing else is in it. */
  readonly files: readonly RunFile[];
  /** Kept between runs and seen as `data/` in the workspace; made when it does not exist.
   *  `null`: `data/` is gone afterwards like the rest. */
  readonly dataFolder: string | null;
  /** Readable at the same path inside: the interpreter's prefix, the environment, the SDK.
   *  One that does not exist fails the preparation. */
  readonly readOnly: readonly string[];
  /** Of `readOnly`: what is closed to other users of the host, and is opened to this run's. */
  readonly privatePaths?: readonly string[];
  /** Writable at the same path inside: the SDK's socket, an environment that is being built. */
  readonly readWrite: readonly string[];
  /** Never visible, whatever else is: the platform's data folder. `readOnly` and `readWrite`
   *  paths below a hidden one are visible again. */
  readonly hidden: readonly string[];
  /** TCP ports that the run may listen on; `0` stands for those that the kernel chooses. */
  readonly listenPorts: readonly number[];
  readonly limits: RunLimits;
  /** How long the script lives without a heartbeat; counted from the preparation. */
  readonly leaseMs: number;
  /** Between SIGTERM and SIGKILL when a run is stopped or its time is over. */
  readonly stopGraceMs: number;
  /** How the run's processes reach the platform; absent where they do not. */
  readonly sdk?: SdkEntry;
  /** A kept interpreter may execute the run, as if it had just been started. Then `argv` is the
   *  environment's interpreter and the script's file. Absent: `argv` is executed as it stands. */
  readonly warm?: WarmStart;
  /** A resident process executes the run: a process of earlier runs, or a new one. */
  readonly resident?: ResidentRun;
}

export interface ResidentRun {
  /** Changes with everything that requires a new process and that the rest of the spec does not show. */
  readonly revision: string;
  /** An idle process ends after this time. */
  readonly idleSeconds: number;
  /** Maximum number of runs of one process. */
  readonly maxRuns: number;
  /** Maximum number of processes that remain after their run. */
  readonly processes: number;
  /** Path of the payload that the process receives. */
  readonly payload?: string;
  /** Keeps the environment until the returned function is called. Called once for a new process. */
  readonly hold: () => () => void;
  /** The secrets that the process knows. Later runs of the process mask them too. */
  readonly log: Pick<RunLog, 'mask' | 'maskedValues'>;
}

export interface SdkEntry {
  /** Where they connect: a path that is not there yet, of at most 107 bytes, and one of `readWrite`. */
  readonly path: string;
  /** Where the sandbox connects for them. */
  readonly server: string;
  /** What it sends there first: no process of a run gets to know it. */
  readonly token: string;
}

export interface WarmStart {
  /** The interpreter that the environment was made from. A keeper starts it from a folder of the
   *  platform, since packages can change what an interpreter finds in the environment. */
  readonly interpreter: BaseInterpreter;
  /** What of the standard library the kept interpreter has imported already. */
  readonly modules: readonly string[];
}

export interface RunFile {
  /** Relative to the workspace: no `..`, `.`, empty or absolute part. Below `data/` a file is
   *  only written when there is none yet. */
  readonly path: string;
  /** Absolute path of an immutable copy; a regular file, never a link. */
  readonly source: string;
  /** Permission bits, such as 0o644. */
  readonly mode: number;
}

/** `null` lifts a limit. */
export interface RunLimits {
  /** CPU time of the whole process tree. SIGXCPU comes first, SIGKILL one second later. */
  readonly cpuSeconds: number | null;
  /** Resident memory of the whole process tree. */
  readonly memoryBytes: number | null;
  /** Address space of each process. */
  readonly addressSpaceBytes: number | null;
  /** Open files of each process. */
  readonly openFiles: number | null;
  /** Processes and threads of the run. */
  readonly processes: number | null;
  /** From `go()`: then the run is ended as if stopped, with reason `timeout`. */
  readonly wallClockSeconds: number | null;
  /** What the workspace, `data/`, temporary files and `readWrite` folders take together on the disk,
   *  and any one file. */
  readonly diskBytes: number | null;
}

export interface RunSample {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly threads: number;
  readonly processes: number;
}

export interface RunUsage {
  /** From the start of the script to the end of its last process. Its output may arrive later. */
  readonly durationMs: number;
  readonly cpuSeconds: number;
  readonly maxMemoryBytes: number;
  readonly maxThreads: number;
}

/** Why the sandbox ended a run; without one the script ended by itself. */
export type EndReason = 'stopped' | 'timeout' | 'cpu_limit' | 'memory_limit' | 'lease_lost';

export type RunExit =
  /** The script executed and is over. Exactly one of `exitCode` and `signal` is set. `detail` is a
   *  sentence for the run's log where a limit was met (also those of processes, open files and disk,
   *  which have no reason of their own). */
  | {
      readonly kind: 'exited';
      readonly exitCode: number | null;
      /** Name, such as `SIGKILL`. */
      readonly signal: string | null;
      readonly reason: EndReason | null;
      readonly detail: string | null;
      readonly usage: RunUsage;
    }
  /** The script never executed. */
  | { readonly kind: 'failed'; readonly stage: string; readonly message: string }
  /** The channel broke without an answer: its other end killed everything, or was killed and
   *  everything with it. */
  | { readonly kind: 'lost'; readonly message: string };

export interface SandboxLayers {
  /** In the order in which they are applied. */
  readonly layers: readonly SandboxLayer[];
}

export interface SandboxLayer {
  /** Stable name: `rlimits`, `no_new_privs`, `mount_namespace`… */
  readonly name: string;
  /** One sentence: what it keeps in. */
  readonly purpose: string;
  readonly available: boolean;
  /** Why it is missing and what would enable it; `null` when it is there. */
  readonly detail: string | null;
}

/** The sandbox itself failed; the script did not execute. Becomes `sandbox_error`. */
export class SandboxError extends Error {
  /** Where it failed: `launcher`, `spec`, `workspace`, `namespaces`, `mounts`, `exec`… */
  readonly stage: string;

  constructor(stage: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxError';
    this.stage = stage;
  }
}
