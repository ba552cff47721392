/** The port through which the runtime starts, monitors and ends the process of one run. The port is independent of
 *  events and queues. It guarantees that no process outlives its run, that a run has one process at a time, and that
 *  the end is reported exactly once. */

import type { BaseInterpreter } from '../environments/virtual-environment.ts';
import type { RunLog } from '../logs/run-log.ts';

/** The port. One `Sandbox` serves all runs of a runtime. */
export interface Sandbox {
  /** Prepares a run up to the execution of the script's process.
   *  The caller then records the start and calls `go()`, or abandons the run with `kill()`.
   *  @param observer receives output and samples from `go()` on
   *  @throws SandboxError if the run cannot be prepared (nothing is left) */
  prepare(spec: RunSpec, observer: RunObserver): Promise<PreparedRun>;

  /** Names of the layers of runs on this machine, outermost last. */
  readonly layers: readonly string[];

  /** The available and missing layers of this machine, with reasons.
   *  @throws SandboxError if the launcher does not respond */
  probe(): Promise<SandboxLayers>;
}

/** A run whose process exists. All methods are idempotent, even after the end. */
export interface PreparedRun {
  /** Process ID of the script's main process on the host. */
  readonly pid: number;
  /** The workspace's path as the script sees it: `/workspaces/{scriptId}`, or a host path without a
   *  mount namespace. */
  readonly workspace: string;
  /** Names of the layers of this run, outermost last. */
  readonly layers: readonly string[];

  /** Starts the execution of the script. */
  go(): void;
  /** Sends SIGTERM to the process group, then SIGKILL to all processes after the grace period.
   *  A repeated call can only shorten the grace period.
   *  @param graceMs default: `stopGraceMs` of the spec */
  stop(graceMs?: number): void;
  /** Sends SIGKILL to all processes immediately. */
  kill(): void;
  /** Renews the lease: all processes are killed when it expires (monotonic clock).
   *  @param leaseMs counted from the arrival of the message; default: `leaseMs` of the spec */
  heartbeat(leaseMs?: number): void;

  /** The end of the run: all its processes are dead and the observer has received all output.
   *  Never rejects. */
  readonly finished: Promise<RunExit>;
  /** After `finished`: the run's folder is removed as well. Never rejects. */
  readonly closed: Promise<void>;
}

/** Receives the output of a running script. */
export interface RunObserver {
  /** A chunk from the pipe: up to 64 KiB, split anywhere, even inside a character. While a returned promise is
   *  pending, reading is paused, so that the script eventually blocks on its pipe. A rejection ends the run as
   *  `lost`. */
  output(stream: OutputStream, chunk: Buffer): void | Promise<void>;
  /** Totals of the whole process tree, about once a second. */
  sample(sample: RunSample): void;
}

export type OutputStream = 'stdout' | 'stderr';

/** The program to run, and its limits. All paths are absolute paths of the host. */
export interface RunSpec {
  readonly runId: string;
  readonly scriptId: string;
  /** The name of the script's system user, where each script has one. Letters, digits, `-`
   *  and `_`; writable folders become that user's. */
  readonly user: string;
  /** `argv[0]` is an absolute path as the script sees it; other arguments are relative to the
   *  workspace, which is the current folder. */
  readonly argv: readonly [string, ...string[]];
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the sandbox sets to the workspace's path as the script sees it (`HOME`). */
  readonly workspaceEnv: readonly string[];
  /** Copied into the empty workspace. */
  readonly files: readonly RunFile[];
  /** Kept between runs and mounted as `data/` in the workspace; created if missing.
   *  `null`: `data/` is removed with the workspace. */
  readonly dataFolder: string | null;
  /** Readable at the same path inside: the interpreter's prefix, the environment, the SDK.
   *  A missing path makes the preparation fail. */
  readonly readOnly: readonly string[];
  /** Paths of `readOnly` that are closed to other users of the host, and opened to this run's user. */
  readonly privatePaths?: readonly string[];
  /** Writable at the same path inside: the SDK's socket, an environment during its build. */
  readonly readWrite: readonly string[];
  /** Never visible: the platform's data folder. `readOnly` and `readWrite`
   *  paths below a hidden one are visible again. */
  readonly hidden: readonly string[];
  /** Whether the process writes stderr to stdout. Default: false. */
  readonly mergeStderr?: boolean;
  /** TCP ports that the run may listen on; `0` stands for those that the kernel chooses. */
  readonly listenPorts: readonly number[];
  readonly limits: RunLimits;
  /** How long the script lives without a heartbeat, counted from the preparation. */
  readonly leaseMs: number;
  /** The time between SIGTERM and SIGKILL when a run is stopped or exceeds its time limit. */
  readonly stopGraceMs: number;
  /** The SDK connection of the run's processes; absent if they have none. */
  readonly sdk?: SdkEntry;
  /** Permits a warm interpreter to execute the run like a new one. `argv` is then the environment's interpreter and the
   *  script's file. Absent: `argv` is executed as given. */
  readonly warm?: WarmStart;
  /** A resident process executes the run: a process of earlier runs, or a new one. */
  readonly resident?: ResidentRun;
}

export interface ResidentRun {
  /** A value that changes whenever a new process is required for a reason that the rest of the spec does not
   *  contain. */
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
  /** The socket for the run's processes: a new path of at most 107 bytes, below one of `readWrite`. */
  readonly path: string;
  /** The server that the sandbox connects to on their behalf. */
  readonly server: string;
  /** The first message to the server, which is secret to the run's processes. */
  readonly token: string;
}

export interface WarmStart {
  /** The interpreter that the environment was made from. A keeper starts it from a folder of the
   *  platform, because packages can change the environment's interpreter. */
  readonly interpreter: BaseInterpreter;
  /** The modules of the standard library that the warm interpreter imports in advance. */
  readonly modules: readonly string[];
}

export interface RunFile {
  /** Relative to the workspace: no `..`, `.`, empty or absolute part. Below `data/`, a file is
   *  only written if it does not exist. */
  readonly path: string;
  /** Absolute path of an immutable copy; a regular file, never a link. */
  readonly source: string;
  /** Permission bits, such as 0o644. */
  readonly mode: number;
}

/** `null` means no limit. */
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
  /** From `go()`: the run is then stopped with the reason `timeout`. */
  readonly wallClockSeconds: number | null;
  /** The disk usage of the workspace, `data/`, temporary files and `readWrite` folders together,
   *  and the limit of each file. */
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

/** Why the sandbox ended a run; absent if the script ended on its own. */
export type EndReason = 'stopped' | 'timeout' | 'cpu_limit' | 'memory_limit' | 'lease_lost';

export type RunExit =
  /** The script executed and has ended. Exactly one of `exitCode` and `signal` is set. `detail` is a sentence for the
   *  run's log if a limit was reached (also the limits of processes, open files and disk, which have no
   *  reason of their own). */
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
  /** The channel broke without a result: its other end has killed all processes, or was killed together with
   *  them. */
  | { readonly kind: 'lost'; readonly message: string };

export interface SandboxLayers {
  /** In the order of application. */
  readonly layers: readonly SandboxLayer[];
}

export interface SandboxLayer {
  /** Stable name: `rlimits`, `no_new_privs`, `mount_namespace`… */
  readonly name: string;
  /** One sentence about its protection. */
  readonly purpose: string;
  readonly available: boolean;
  /** Why it is missing and how to enable it; `null` if available. */
  readonly detail: string | null;
}

/** The sandbox itself failed, and the script was not executed. The run ends as `sandbox_error`. */
export class SandboxError extends Error {
  /** The failed stage: `launcher`, `spec`, `workspace`, `namespaces`, `mounts`, `exec`… */
  readonly stage: string;

  constructor(stage: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxError';
    this.stage = stage;
  }
}
