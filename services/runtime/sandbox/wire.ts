/** The JSON content of frames, with the field names of the Python side. */
import type { EndReason, RunExit, RunSample, RunSpec, SandboxLayer } from './sandbox.ts';

interface WireExit {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly reason: EndReason | null;
  readonly detail: string | null;
  /** Whether the process is waiting for another run. */
  readonly reusable?: boolean;
  readonly usage: {
    readonly seconds: number;
    readonly cpu_seconds: number;
    readonly max_memory_bytes: number;
    readonly max_threads: number;
  };
}

interface WireSample {
  readonly cpu_seconds: number;
  readonly memory_bytes: number;
  readonly threads: number;
  readonly processes: number;
}

export interface Ready {
  readonly pid: number;
  readonly workspace: string;
  readonly layers: readonly string[];
}

export interface Failure {
  readonly stage: string;
  readonly message: string;
}

/** Returns the content of the frame with a run's specification.
 *  @param isLast whether a resident process exits after this run */
export function specToWire(spec: RunSpec, isLast = true): object {
  const { limits } = spec;
  return {
    run_id: spec.runId,
    script_id: spec.scriptId,
    user: spec.user,
    argv: spec.argv,
    env: spec.env,
    workspace_env: spec.workspaceEnv,
    files: spec.files,
    data_folder: spec.dataFolder,
    read_only: spec.readOnly,
    private_paths: spec.privatePaths ?? [],
    read_write: spec.readWrite,
    hidden: spec.hidden,
    listen_ports: spec.listenPorts,
    merge_stderr: spec.mergeStderr ?? false,
    limits: {
      cpu_seconds: limits.cpuSeconds,
      memory_bytes: limits.memoryBytes,
      address_space_bytes: limits.addressSpaceBytes,
      open_files: limits.openFiles,
      processes: limits.processes,
      wall_clock_seconds: limits.wallClockSeconds,
      disk_bytes: limits.diskBytes,
    },
    lease_ms: spec.leaseMs,
    stop_grace_ms: spec.stopGraceMs,
    sdk: spec.sdk ?? null,
    resident:
      spec.resident === undefined
        ? null
        : { is_last: isLast, payload: spec.resident.payload ?? null },
  };
}

export function readyFromWire(payload: Buffer): Ready {
  return JSON.parse(payload.toString()) as Ready;
}

export function failureFromWire(payload: Buffer): Failure {
  return JSON.parse(payload.toString()) as Failure;
}

export function layersFromWire(payload: Buffer): { layers: readonly SandboxLayer[] } {
  return JSON.parse(payload.toString()) as { layers: readonly SandboxLayer[] };
}

export function sampleFromWire(payload: Buffer): RunSample {
  const sample = JSON.parse(payload.toString()) as WireSample;
  return {
    cpuSeconds: sample.cpu_seconds,
    memoryBytes: sample.memory_bytes,
    threads: sample.threads,
    processes: sample.processes,
  };
}

export function exitFromWire(payload: Buffer): {
  readonly exit: RunExit;
  readonly isReusable: boolean;
} {
  const exit = JSON.parse(payload.toString()) as WireExit;
  return { exit: runExit(exit), isReusable: exit.reusable === true };
}

function runExit(exit: WireExit): RunExit {
  return {
    kind: 'exited',
    exitCode: exit.exit_code,
    signal: exit.signal,
    reason: exit.reason,
    detail: exit.detail,
    usage: {
      durationMs: Math.round(exit.usage.seconds * 1000),
      cpuSeconds: exit.usage.cpu_seconds,
      maxMemoryBytes: exit.usage.max_memory_bytes,
      maxThreads: exit.usage.max_threads,
    },
  };
}
