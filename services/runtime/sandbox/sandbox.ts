/** The port through which the runtime starts, monitors and ends the process of one run. The port is independent of
 *  events and queues. It guarantees that no process outlives its run, that a run has one process at a time, and that
 *  the end is reported exactly once. */

import type { BaseInterpreter } from '../environments/virtual-environment.ts';
import type { RunLog } from '../logs/run-log.ts';

/** The port. All runs of a runtime share one `Sandbox`. */
export interface Sandbox {
  /** Prepares a run. The script's process exists then, but does not execute the script. The caller records the start
   *  and calls `go()`, or abandons the run with `kill()`.
   *  @param observer receives output and samples after `go()`
   *  @throws SandboxError if the run cannot be prepared. Nothing is left over then */
  prepare(spec: RunSpec, observer: RunObserver): Promise<PreparedRun>;

  /** The names of the layers that runs on this machine have, outermost last. */
  readonly layers: readonly string[];

  /** The available and missing layers of this machine, with reasons.
   *  @throws SandboxError if the launcher does not respond */
  probe(): Promise<SandboxLayers>;
}

/** A run whose process exists. All methods are idempotent, and permitted after the end. */
export interface PreparedRun {
  /** Process ID of the script's main process on the host. */
  readonly pid: number;
  /** The path of the workspace as the script sees it: `/workspaces/{scriptId}`, or without a mount namespace the path
   *  on the host. */
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
  /** Resolves after `finished`, when the folder of the run is removed. Never rejects. */
  readonly closed: Promise<void>;
}

/** Receives the output of a running script. */
export interface RunObserver {
  /** Receives a chunk of up to 64 KiB. A chunk can end anywhere, even inside a character. While a returned promise
   *  is pending, reading is paused, so that the script eventually blocks on its pipe. A rejection ends the run as
   *  `lost`. */
  output(stream: OutputStream, chunk: Buffer): void | Promise<void>;
  /** Receives the totals of all processes of the run, about once a second. */
  sample(sample: RunSample): void;
}

export type OutputStream = 'stdout' | 'stderr';

/** The program to run, and its limits. All paths are absolute paths of the host. */
export interface RunSpec {
  readonly runId: string;
  readonly scriptId: string;
  /** The name of the script's system user, if each script has its own. Consists of letters, digits, `-` and `_`. The
   *  user becomes the owner of writable folders. */
  readonly user: string;
  /** The program and its arguments. `argv[0]` is an absolute path as the script sees it. Relative paths in other
   *  arguments refer to the workspace, which is the current folder. */
  readonly argv: readonly [string, ...string[]];
  /** All environment variables of the process. It inherits no others. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the sandbox sets to the workspace's path as the script sees it (`HOME`). */
  readonly workspaceEnv: readonly string[];
  /** The files to copy into the workspace. Initially, the workspace is empty. */
  readonly files: readonly RunFile[];
  /** The folder that is mounted as `data/` in the workspace and kept between runs; created if missing. If it is `null`,
   *  `data/` is removed with the workspace. */
  readonly dataFolder: string | null;
  /** Paths that are readable at the same path inside, such as the paths of the interpreter, the environment and the
   *  SDK. If one is missing, the preparation fails. */
  readonly readOnly: readonly string[];
  /** Those paths of `readOnly` that other users of the host cannot read. The sandbox gives this run's user access to
   *  them. */
  readonly privatePaths?: readonly string[];
  /** Paths that are writable at the same path inside, such as the SDK's socket, or an environment during its build. */
  readonly readWrite: readonly string[];
  /** Paths that are not visible, such as the platform's data folder. If a path of `readOnly` or `readWrite` is below
   *  such a path, it is visible. */
  readonly hidden: readonly string[];
  /** Whether the process writes stderr to stdout. Default: false. */
  readonly mergeStderr?: boolean;
  /** TCP ports that the run may listen on; `0` stands for ports that the kernel chooses. */
  readonly listenPorts: readonly number[];
  readonly limits: RunLimits;
  /** How long the script may live without a heartbeat. The first period starts with the preparation. */
  readonly leaseMs: number;
  /** The time between SIGTERM and SIGKILL when a run is stopped or exceeds its time limit. */
  readonly stopGraceMs: number;
  /** The connection of the run's processes to the SDK's server; absent if they have none. */
  readonly sdk?: SdkEntry;
  /** Permits a warm interpreter to execute the run with the same result as a new one. `argv` must then consist of the
   *  environment's interpreter and the script's file. If absent, `argv` is executed. */
  readonly warm?: WarmStart;
  /** Requires a resident process: an idle one, or else a new one. */
  readonly resident?: ResidentRun;
}

export interface ResidentRun {
  /** Changes whenever the run requires a new process for a reason that is not visible in the rest of the
   *  specification. */
  readonly revision: string;
  /** How long a process may be idle before it ends. */
  readonly idleSeconds: number;
  /** The maximum number of runs that a process executes. */
  readonly maxRuns: number;
  /** The maximum number of processes of the script that are kept after their runs. */
  readonly processes: number;
  /** The path of the file with the payload, which the process receives. */
  readonly payload?: string;
  /** Keeps the environment until the returned function is called. Called once for each new process. */
  readonly hold: () => () => void;
  /** The log of the run. It knows the secrets that the process receives, so that later runs of the process mask them
   *  too. */
  readonly log: Pick<RunLog, 'mask' | 'maskedValues'>;
}

export interface SdkEntry {
  /** The path of the socket for the run's processes: new, at most 107 bytes long, and below a path of `readWrite`. */
  readonly path: string;
  /** The path of the server's socket. The sandbox connects to it for the processes. */
  readonly server: string;
  /** The first message to the server. The run's processes must not know it. */
  readonly token: string;
}

export interface WarmStart {
  /** The interpreter that the environment was made from. A keeper starts it in a folder of the platform, because
   *  packages can change the environment's own interpreter. */
  readonly interpreter: BaseInterpreter;
  /** The modules of the standard library that the warm interpreter imports in advance. */
  readonly modules: readonly string[];
}

export interface RunFile {
  /** The path relative to the workspace. It is not absolute and has no `..`, `.` or empty part. A file below `data/` is
   *  only written if it does not exist. */
  readonly path: string;
  /** The absolute path of an immutable copy, which is a regular file and not a link. */
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
  /** The number of processes and threads of the run. */
  readonly processes: number | null;
  /** The duration since `go()`. After it, the run is stopped with the reason `timeout`. */
  readonly wallClockSeconds: number | null;
  /** The disk usage of the workspace, `data/`, temporary files and `readWrite` folders together. Also the maximum size
   *  of each file. */
  readonly diskBytes: number | null;
}

export interface RunSample {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly threads: number;
  readonly processes: number;
}

export interface RunUsage {
  /** The time from the start of the script to the end of its last process. Output may arrive later. */
  readonly durationMs: number;
  readonly cpuSeconds: number;
  readonly maxMemoryBytes: number;
  readonly maxThreads: number;
}

/** The reason for which the sandbox ended a run; absent if the run ended on its own. */
export type EndReason = 'stopped' | 'timeout' | 'cpu_limit' | 'memory_limit' | 'lease_lost';

export type RunExit =
  /** The script was executed and has ended. Either `exitCode` or `signal` is set. If a limit was reached, `detail` is
   *  a sentence for the run's log, even if no reason exists for the limit, as for processes, open files and disk
   *  usage. */
  | {
      readonly kind: 'exited';
      readonly exitCode: number | null;
      /** Name, such as `SIGKILL`. */
      readonly signal: string | null;
      readonly reason: EndReason | null;
      readonly detail: string | null;
      readonly usage: RunUsage;
    }
  /** The script was not executed. */
  | { readonly kind: 'failed'; readonly stage: string; readonly message: string }
  /** The channel broke without a result. The supervisor has killed all processes, or was killed together with them. */
  | { readonly kind: 'lost'; readonly message: string };

export interface SandboxLayers {
  /** The layers, in the order in which they are applied. */
  readonly layers: readonly SandboxLayer[];
}

export interface SandboxLayer {
  /** Stable name: `rlimits`, `no_new_privs`, `mount_namespace`… */
  readonly name: string;
  /** What the layer protects, in one sentence. */
  readonly purpose: string;
  readonly available: boolean;
  /** Why it is missing and how to enable it; `null` if available. */
  readonly detail: string | null;
}

/** The sandbox itself failed before it executed the script. The run ends with `sandbox_error`. */
export class SandboxError extends Error {
  /** The failed stage: `launcher`, `spec`, `workspace`, `namespaces`, `mounts`, `exec`… */
  readonly stage: string;

  constructor(stage: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxError';
    this.stage = stage;
  }
}
