/** Settings for a script's runs, with the default values from contract §6. */
import type { JsonValue } from '#domain/kernel/event.ts';
import { environmentProblem, type EnvironmentVariables } from './environment.ts';
import { expectationsProblem, type Expectation } from './expectations.ts';
import { labelsProblem } from './labels.ts';
import { poolsProblem } from '#domain/pool/pool.ts';
import { entrypointProblem } from './path.ts';

/** Limits for one run. `null` means no limit. */
export interface RunLimits {
  readonly cpu_seconds: number | null;
  readonly memory_bytes: number | null;
  readonly address_space_bytes: number | null;
  readonly open_files: number | null;
  readonly processes: number | null;
  readonly wall_clock_seconds: number | null;
  readonly log_bytes: number | null;
  /** Maximum time that the run may wait in the queue. Time before the run is allowed to start does not count. */
  readonly queue_seconds: number | null;
}

/** The retry policy for failed runs. */
export interface RetryPolicy {
  /** Maximum number of attempts, including the first one. 1 disables retries. */
  readonly max_attempts: number;
  /** Delay between the end of the first attempt and the second attempt. Each further delay is the previous delay
   *  times `backoff_factor`, but at most `max_backoff_seconds`. */
  readonly backoff_seconds: number;
  readonly backoff_factor: number;
  readonly max_backoff_seconds: number;
}

/** `warm`: runs may use a warm interpreter of the script. `cold`: each run starts a new interpreter. `resident`: one
 *  process executes consecutive runs by calling the handler in the entry point. */
export const startModes = ['warm', 'cold', 'resident'] as const;
export type StartMode = (typeof startModes)[number];

/** The process limits for scripts with the start mode `resident`, per runtime. */
export interface ResidentSettings {
  /** The time after which an idle process ends. */
  readonly idle_seconds: number;
  /** The number of runs after which a process ends. */
  readonly max_runs: number;
  /** Maximum number of processes that remain alive after their runs end. */
  readonly processes: number;
}

/** A JSON Schema. */
export type ParametersSchema = { readonly [keyword: string]: JsonValue };

/** The actions on the script that require another user's approval. */
export interface Protection {
  /** Whether requested runs require an approval. */
  readonly run: boolean;
  /** Whether changes to files and to the settings in `codeSettings` require an approval. */
  readonly save: boolean;
}

export interface ScriptSettings {
  readonly maxConcurrentRuns: number;
  readonly storageQuotaBytes: number;
  readonly entrypoint: string;
  readonly limits: RunLimits;
  readonly tags: readonly string[];
  readonly retry: RetryPolicy;
  /** Whether the script is always on: one run is active while the script is enabled. */
  readonly keepAlive: boolean;
  readonly environment: EnvironmentVariables;
  /** The Python version, such as `3` or `3.12`. `null` selects the runtime's default version. */
  readonly python: string | null;
  readonly startMode: StartMode;
  readonly resident: ResidentSettings;
  /** Whether the process writes stderr to stdout. The log then contains all lines in their exact order. */
  readonly mergeStderr: boolean;
  /** TCP ports that runs may listen on. For `0`, the kernel chooses a port. */
  readonly listenPorts: readonly number[];
  /** Labels that a runtime must have to execute runs of the script. */
  readonly runsOn: readonly string[];
  /** Names of pools, which limit the number of concurrent runs across scripts. */
  readonly pools: readonly string[];
  readonly expectations: readonly Expectation[];
  readonly protected: Protection;
  /** The schema of the parameters. `null` allows any parameters. */
  readonly parametersSchema: ParametersSchema | null;
  /** Identifies which resolution of the requirements is used. Changing this value makes the platform resolve the
   *  requirements again. */
  readonly resolution: string | null;
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

export const defaultRetry: RetryPolicy = {
  max_attempts: 1,
  backoff_seconds: 10,
  backoff_factor: 2,
  max_backoff_seconds: 3600,
};

export const defaultResident: ResidentSettings = {
  idle_seconds: 600,
  max_runs: 1000,
  processes: 1,
};

export const defaultSettings: ScriptSettings = {
  maxConcurrentRuns: 1,
  storageQuotaBytes: 100 * mebibyte,
  entrypoint: 'main.py',
  limits: defaultLimits,
  tags: [],
  retry: defaultRetry,
  keepAlive: false,
  environment: {},
  python: null,
  startMode: 'warm',
  resident: defaultResident,
  mergeStderr: false,
  listenPorts: [],
  runsOn: [],
  pools: [],
  expectations: [],
  protected: { run: false, save: false },
  parametersSchema: null,
  resolution: null,
};

/** Whether a setting changes what the script does. If `save` is protected, changes to such settings require another
 *  user's approval. */
export const codeSettings: Readonly<Record<keyof ScriptSettings, boolean>> = {
  entrypoint: true,
  environment: true,
  python: true,
  startMode: true,
  listenPorts: true,
  parametersSchema: true,
  resolution: true,
  maxConcurrentRuns: false,
  storageQuotaBytes: false,
  limits: false,
  tags: false,
  retry: false,
  keepAlive: false,
  resident: false,
  mergeStderr: false,
  runsOn: false,
  pools: false,
  expectations: false,
  // Only administrators may change the protection, so changes require no further approval.
  protected: false,
};

export const maxListenPorts = 16;
/** Ports below 1024 are reserved for privileged processes. */
export const minListenPort = 1024;
export const maxListenPort = 65_535;

/** Maximum size of one file. */
export const maxFileBytes = 10 * mebibyte;

/** Describes the problem with the settings. Returns `undefined` if they are valid. */
export function settingsProblem(settings: Partial<ScriptSettings>): string | undefined {
  const {
    environment = {},
    entrypoint = defaultSettings.entrypoint,
    listenPorts = [],
    runsOn = [],
    pools = [],
    expectations = [],
  } = settings;
  const unusable = environmentProblem(environment);
  if (unusable !== undefined) return `Invalid environment variables: ${unusable}.`;
  const misplaced = entrypointProblem(entrypoint);
  if (misplaced !== undefined) return `Invalid entry point: ${misplaced}.`;
  const refused = listenPortsProblem(listenPorts);
  if (refused !== undefined) return `Invalid listen ports: ${refused}.`;
  const mislabelled = labelsProblem(runsOn);
  if (mislabelled !== undefined) return `Invalid runtime labels: ${mislabelled}.`;
  const unknownPools = poolsProblem(pools);
  if (unknownPools !== undefined) return `Invalid pools: ${unknownPools}.`;
  const unexpected = expectationsProblem(expectations);
  return unexpected === undefined ? undefined : `Invalid expectations: ${unexpected}.`;
}

/** The maximum values of the resident settings. The minimum of each setting is 1. */
export const maxResident: ResidentSettings = {
  idle_seconds: 86_400,
  max_runs: 1_000_000,
  processes: 64,
};

/** Describes the problem with the listen ports. Returns `undefined` if they are valid. */
export function listenPortsProblem(ports: readonly number[]): string | undefined {
  if (ports.length > maxListenPorts) return `at most ${maxListenPorts} ports are allowed`;
  if (new Set(ports).size < ports.length) return 'a port is listed twice';
  const wrong = ports.find((port) => !isListenPort(port));
  return wrong === undefined
    ? undefined
    : `${wrong} is not allowed; use 0, or ${minListenPort} to ${maxListenPort}`;
}

function isListenPort(port: number): boolean {
  return Number.isInteger(port) && (port === 0 || (port >= minListenPort && port <= maxListenPort));
}
