/**
 * The port through which the runtime starts, monitors and stops each run's process. The port does not depend on events
 * or queues. It guarantees that no process outlives its run, that a run has only one process at a time, and that the
 * exit is reported exactly once.
 */

import type { BaseInterpreter } from '../environments/virtual-environment.ts';
import type { RunLog } from '../logs/run-log.ts';

/** The sandbox. All runs of a runtime share one instance. */
export interface Sandbox {
  /** Prepares a run. The script's process then exists, but does not execute the script. The caller records the start
   *  and calls `go()`, or abandons the run with `kill()`.
   *  @param observer receives output and samples after `go()`
   *  @throws SandboxError if the run cannot be prepared. In this case, no processes or files remain */
  prepare(spec: RunSpec, observer: RunObserver): Promise<PreparedRun>;

  /** The names of the layers for runs on this machine, outermost last. */
  readonly layers: readonly string[];

  /** Returns the available and missing layers on this machine, with reasons.
   *  @throws SandboxError if the launcher does not respond */
  probe(): Promise<SandboxLayers>;
}

/** A run whose process exists. All methods are idempotent, and may be called after the run has finished. */
export interface PreparedRun {
  /** The host process ID of the script's main process. */
  readonly pid: number;
  /** The workspace's path inside the sandbox: `/workspaces/{scriptId}`, or the host path if there is no mount
   *  namespace. */
  readonly workspace: string;
  /** The names of this run's layers, outermost last. */
  readonly layers: readonly string[];

  /** Starts executing the script. */
  go(): void;
  /** Sends SIGTERM to the process group, and SIGKILL to all processes after the grace period. A repeated call can only
   *  shorten the grace period.
   *  @param graceMs defaults to the specification's `stopGraceMs` */
  stop(graceMs?: number): void;
  /** Sends SIGKILL to all processes immediately. */
  kill(): void;
  /** Renews the lease. When the lease expires (monotonic clock), all processes are killed.
   *  @param leaseMs counted from the arrival of the message. Defaults to the specification's `leaseMs` */
  heartbeat(leaseMs?: number): void;

  /** Resolves when all the run's processes have exited and the observer has received all output. Never
   *  rejects. */
  readonly finished: Promise<RunExit>;
  /** Resolves after `finished`, when the run's folder has been removed. Never rejects. */
  readonly closed: Promise<void>;
}

/** Receives the output of a running script. */
export interface RunObserver {
  /** Receives a chunk of up to 64 KiB. A chunk can end anywhere, even inside a character. Reading pauses while a
   *  returned promise is pending, so the script eventually blocks on its pipe. If the promise rejects, the run is
   *  stopped and reported as `lost`. */
  output(stream: OutputStream, chunk: Buffer): void | Promise<void>;
  /** Receives the combined resource usage of all processes of the run, about once a second. */
  sample(sample: RunSample): void;
}

export type OutputStream = 'stdout' | 'stderr';

/** The program to run, and its limits. All paths are absolute host paths. */
export interface RunSpec {
  readonly runId: string;
  readonly scriptId: string;
  /** The name of the script's system user, if each script has its own user. It consists of letters, digits, `-` and
   *  `_`. The user becomes the owner of writable folders. */
  readonly user: string;
  /** The program and its arguments. `argv[0]` is an absolute path inside the sandbox. Relative paths in other
   *  arguments refer to the workspace, which is the current folder. */
  readonly argv: readonly [string, ...string[]];
  /** All environment variables of the process. It inherits no others. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the sandbox sets to the workspace's path inside the sandbox (`HOME`). */
  readonly workspaceEnv: readonly string[];
  /** The files to copy into the workspace, which is initially empty. */
  readonly files: readonly RunFile[];
  /** The folder that is mounted as `data/` in the workspace and kept between runs. It is created if missing. If it
   *  is `null`, `data/` is removed with the workspace. */
  readonly dataFolder: string | null;
  /** Paths that are readable at the same path inside the sandbox, such as those of the interpreter, the environment
   *  and the SDK. If a path is missing, the preparation fails. */
  readonly readOnly: readonly string[];
  /** Paths in `readOnly` that other users on the host cannot read. The sandbox gives this run's user access to these
   *  paths. */
  readonly privatePaths?: readonly string[];
  /** Paths that are writable at the same path inside the sandbox, such as the SDK socket, or an environment during
   *  its build. */
  readonly readWrite: readonly string[];
  /** Paths that are not visible, such as the platform's data folder. Paths in `readOnly` and `readWrite` remain
   *  visible, even below such a path. */
  readonly hidden: readonly string[];
  /** Whether the process writes stderr to stdout. Default: false. */
  readonly mergeStderr?: boolean;
  /** TCP ports on which the run may listen. `0` stands for any port that the kernel chooses. */
  readonly listenPorts: readonly number[];
  readonly limits: RunLimits;
  /** How long the script may run without a heartbeat. The first period starts with the preparation. */
  readonly leaseMs: number;
  /** The time between SIGTERM and SIGKILL when a run is stopped or exceeds its time limit. */
  readonly stopGraceMs: number;
  /** The connection from the run's processes to the SDK server. Absent if they have no connection. */
  readonly sdk?: SdkEntry;
  /** Lets a warm interpreter execute the run with the same result as a new interpreter. `argv` must then consist of
   *  the environment's interpreter and the script's file. If absent, `argv` is executed. */
  readonly warm?: WarmStart;
  /** Makes a resident process execute the run: an idle one, or a new one if none is idle. */
  readonly resident?: ResidentRun;
}

export interface ResidentRun {
  /** Changes whenever the run requires a new process for reasons that are not in the rest of the specification. */
  readonly revision: string;
  /** How long a process may be idle before it is stopped. */
  readonly idleSeconds: number;
  /** The maximum number of runs that a process executes. */
  readonly maxRuns: number;
  /** The maximum number of the script's processes that stay alive after their runs. */
  readonly processes: number;
  /** The path of the payload file, which the process receives. */
  readonly payload?: string;
  /** Keeps the environment until the returned function is called. `hold` is called once for each new process. */
  readonly hold: () => () => void;
  /** The run's log. It tracks the secrets that the process receives, so that the process's later runs also mask
   *  them. */
  readonly log: Pick<RunLog, 'mask' | 'maskedValues'>;
}

export interface SdkEntry {
  /** The path of the socket for the run's processes. It must be new, at most 107 bytes long, and below a path in
   *  `readWrite`. */
  readonly path: string;
  /** The path of the server's socket, to which the sandbox connects on behalf of the processes. */
  readonly server: string;
  /** The first message to the server. The run's processes must not be able to read this token. */
  readonly token: string;
}

export interface WarmStart {
  /** The interpreter from which the environment was created. A keeper starts this interpreter in a folder of the
   *  platform, because packages can change the environment's own interpreter. */
  readonly interpreter: BaseInterpreter;
  /** The standard library modules that the warm interpreter imports in advance. */
  readonly modules: readonly string[];
}

export interface RunFile {
  /** The path relative to the workspace. The path must not contain `..`, `.` or empty parts. A file below `data/` is
   *  only written if it does not exist. */
  readonly path: string;
  /** The absolute path of an immutable copy, which must be a regular file. */
  readonly source: string;
  /** Permission bits, such as 0o644. */
  readonly mode: number;
}

/** The limits of a run. `null` means no limit. */
export interface RunLimits {
  /** The CPU time of the whole process tree. The kernel sends SIGXCPU first, and SIGKILL one second later. */
  readonly cpuSeconds: number | null;
  /** The resident memory of the whole process tree. */
  readonly memoryBytes: number | null;
  /** The address space of each process. */
  readonly addressSpaceBytes: number | null;
  /** The number of open files of each process. */
  readonly openFiles: number | null;
  /** The number of processes and threads of the run. */
  readonly processes: number | null;
  /** The maximum duration since `go()`. When it is exceeded, the run is stopped with the reason `timeout`. */
  readonly wallClockSeconds: number | null;
  /** The total disk usage of the workspace, `data/`, temporary files and `readWrite` folders. It is also the maximum
   *  size of each file. */
  readonly diskBytes: number | null;
}

export interface RunSample {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly threads: number;
  readonly processes: number;
}

export interface RunUsage {
  /** The time from the start of the script to the exit of its last process. Output may arrive later. */
  readonly durationMs: number;
  readonly cpuSeconds: number;
  readonly maxMemoryBytes: number;
  readonly maxThreads: number;
}

/** The reason why the sandbox stopped a run. Absent if the process exited on its own. */
export type EndReason = 'stopped' | 'timeout' | 'cpu_limit' | 'memory_limit' | 'lease_lost';

export type RunExit =
  /** The script was executed and has exited. Either `exitCode` or `signal` is set. If a limit was reached, `detail`
   *  is a sentence for the run's log. Limits on processes, open files and disk usage have a detail, but no reason. */
  | {
      readonly kind: 'exited';
      readonly exitCode: number | null;
      /** The signal name, such as `SIGKILL`. */
      readonly signal: string | null;
      readonly reason: EndReason | null;
      readonly detail: string | null;
      readonly usage: RunUsage;
    }
  /** The script was not executed. */
  | { readonly kind: 'failed'; readonly stage: string; readonly message: string }
  /** The channel broke before a result arrived. The supervisor has killed all processes, or was killed with them. */
  | { readonly kind: 'lost'; readonly message: string };

export interface SandboxLayers {
  /** The layers, in the order in which they are applied. */
  readonly layers: readonly SandboxLayer[];
}

export interface SandboxLayer {
  /** The layer's stable name: `rlimits`, `no_new_privs`, `mount_namespace`… */
  readonly name: string;
  /** One sentence that describes what the layer protects. */
  readonly purpose: string;
  readonly available: boolean;
  /** Why the layer is missing and how to enable it, or `null` if the layer is available. */
  readonly detail: string | null;
}

/** Thrown if the sandbox itself failed before it executed the script. The run fails with `sandbox_error`. */
export class SandboxError extends Error {
  /** The failed stage: `launcher`, `spec`, `workspace`, `namespaces`, `mounts`, `exec`… */
  readonly stage: string;

  constructor(stage: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SandboxError';
    this.stage = stage;
  }
}
