/** What a script's author may set about its runs, with the defaults of contract §6. */

/** `null` lifts a limit. */
export interface RunLimits {
  readonly cpu_seconds: number | null;
  readonly memory_bytes: number | null;
  readonly address_space_bytes: number | null;
  readonly open_files: number | null;
  readonly processes: number | null;
  readonly wall_clock_seconds: number | null;
  readonly log_bytes: number | null;
  /** Time in the queue, from when the run may start. */
  readonly queue_seconds: number | null;
}

export interface ScriptSettings {
  readonly maxConcurrentRuns: number;
  readonly storageQuotaBytes: number;
  readonly entrypoint: string;
  readonly limits: RunLimits;
  readonly tags: readonly string[];
}

const mebibyte = 1024 * 1024;

export const defaultLimits: RunLimits = {
  cpu_seconds: 3600,
  memory_bytes: 1024 * mebibyte,
  address_space_bytes: 8 * 1024 * mebibyte,
  open_files: 256,
  processes: 64,
  wall_clock_seconds: 3600,
  log_bytes: 10 * mebibyte,
  queue_seconds: 86_400,
};

export const defaultSettings: ScriptSettings = {
  maxConcurrentRuns: 1,
  storageQuotaBytes: 100 * mebibyte,
  entrypoint: 'main.py',
  limits: defaultLimits,
  tags: [],
};

/** Largest single file, in bytes. */
export const maxFileBytes = 10 * mebibyte;
