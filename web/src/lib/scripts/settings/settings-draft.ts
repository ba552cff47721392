import type { Script } from '#lib/api/types.ts';
import type { ScriptPatch } from '../api.ts';
import { expectationDraft, expectationOf, type ExpectationDraft } from './expectation-drafts.ts';

const mebibyte = 1024 * 1024;

/** The values of the settings form. An empty limit means no limit. */
export interface SettingsDraft {
  name: string;
  description: string;
  groupId: string;
  /** Tags, separated by commas. */
  tags: string;
  entrypoint: string;
  /** An empty value selects the runtime's default version. */
  python: string;
  startMode: Script['start_mode'];
  idleSeconds: number | null;
  maxRuns: number | null;
  residentProcesses: number | null;
  /** Port numbers, separated by commas. */
  listenPorts: string;
  /** Runtime labels, separated by commas. */
  runsOn: string;
  /** Pool names, separated by commas. */
  pools: string;
  expectations: ExpectationDraft[];
  keepAlive: boolean;
  /** Whether runs requested by users require approval. */
  protectRuns: boolean;
  protectSaves: boolean;
  mergeStderr: boolean;
  maxConcurrentRuns: number | null;
  storageQuotaMib: number | null;
  cpuSeconds: number | null;
  wallClockSeconds: number | null;
  queueSeconds: number | null;
  memoryMib: number | null;
  addressSpaceMib: number | null;
  logMib: number | null;
  openFiles: number | null;
  processes: number | null;
  maxAttempts: number | null;
  backoffSeconds: number | null;
  backoffFactor: number | null;
  maxBackoffSeconds: number | null;
  /** Environment variables, one `NAME=value` per line. */
  environment: string;
  /** A JSON Schema as text, or empty if none exists. */
  parametersSchema: string;
}

export function draftOf(script: Script): SettingsDraft {
  const { limits, resident, retry } = script;
  const mib = (bytes: number | null) => (bytes === null ? null : bytes / mebibyte);
  return {
    name: script.name,
    description: script.description,
    groupId: script.group_id,
    tags: script.tags.join(', '),
    entrypoint: script.entrypoint,
    python: script.python ?? '',
    startMode: script.start_mode,
    idleSeconds: resident.idle_seconds,
    maxRuns: resident.max_runs,
    residentProcesses: resident.processes,
    listenPorts: script.listen_ports.join(', '),
    runsOn: script.runs_on.join(', '),
    pools: script.pools.join(', '),
    expectations: script.expectations.map(expectationDraft),
    keepAlive: script.keep_alive,
    protectRuns: script.protected.run,
    protectSaves: script.protected.save,
    mergeStderr: script.merge_stderr,
    maxConcurrentRuns: script.max_concurrent_runs,
    storageQuotaMib: mib(script.storage_quota_bytes),
    cpuSeconds: limits.cpu_seconds,
    wallClockSeconds: limits.wall_clock_seconds,
    queueSeconds: limits.queue_seconds,
    memoryMib: mib(limits.memory_bytes),
    addressSpaceMib: mib(limits.address_space_bytes),
    logMib: mib(limits.log_bytes),
    openFiles: limits.open_files,
    processes: limits.processes,
    maxAttempts: retry.max_attempts,
    backoffSeconds: retry.backoff_seconds,
    backoffFactor: retry.backoff_factor,
    maxBackoffSeconds: retry.max_backoff_seconds,
    environment: Object.entries(script.environment)
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
    parametersSchema:
      script.parameters_schema === null ? '' : JSON.stringify(script.parameters_schema, null, 2),
  };
}

/** Returns an error message for each invalid field. The object is empty if all fields are valid. */
export function draftProblems(draft: SettingsDraft): {
  environment?: string;
  listenPorts?: string;
  parametersSchema?: string;
} {
  const wrong = linesOf(draft.environment).find((line) => !/^[^=\s]+=/.test(line));
  const noPort = itemsOf(draft.listenPorts).find((item) => !isPort(item));
  return {
    ...(noPort !== undefined && {
      listenPorts: `“${noPort}” is not a valid port. Use 0 or 1024–65535.`,
    }),
    ...(wrong !== undefined && { environment: `Invalid line “${wrong}”. Use NAME=value.` }),
    ...(!isSchema(draft.parametersSchema) && {
      parametersSchema: 'Enter a JSON object, or leave empty.',
    }),
  };
}

/** Returns the merge patch that changes `before` to `draft`. The patch is empty if nothing has changed.
 *  @param draft must be valid */
export function patchOf(before: SettingsDraft, draft: SettingsDraft): ScriptPatch {
  const [old, wanted] = [settingsOf(before), settingsOf(draft)];
  const parts = { limits: {}, retry: {}, resident: {}, environment: {} };
  for (const part of ['limits', 'retry', 'resident', 'environment'] as const) {
    parts[part] = differing(old[part], wanted[part]);
  }
  const plain = differing<Record<string, unknown>>(
    { ...old, ...parts },
    { ...wanted, ...parts },
  ) as ScriptPatch;
  const changed = Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0);
  return { ...plain, ...Object.fromEntries(changed) };
}

function settingsOf(draft: SettingsDraft) {
  const bytes = (mib: number | null) => (mib === null ? null : Math.round(mib * mebibyte));
  return {
    name: draft.name.trim(),
    description: draft.description,
    group_id: draft.groupId,
    tags: itemsOf(draft.tags),
    entrypoint: draft.entrypoint.trim(),
    python: draft.python.trim() || null,
    start_mode: draft.startMode,
    listen_ports: itemsOf(draft.listenPorts).map(Number),
    runs_on: itemsOf(draft.runsOn),
    pools: itemsOf(draft.pools),
    expectations: draft.expectations.map(expectationOf),
    keep_alive: draft.keepAlive,
    protected: { run: draft.protectRuns, save: draft.protectSaves },
    merge_stderr: draft.mergeStderr,
    max_concurrent_runs: draft.maxConcurrentRuns ?? 1,
    storage_quota_bytes: bytes(draft.storageQuotaMib) ?? 0,
    parameters_schema: isSchema(draft.parametersSchema) ? schemaOf(draft.parametersSchema) : null,
    limits: {
      cpu_seconds: draft.cpuSeconds,
      wall_clock_seconds: draft.wallClockSeconds,
      queue_seconds: draft.queueSeconds,
      memory_bytes: bytes(draft.memoryMib),
      address_space_bytes: bytes(draft.addressSpaceMib),
      log_bytes: bytes(draft.logMib),
      open_files: draft.openFiles,
      processes: draft.processes,
    },
    resident: {
      idle_seconds: draft.idleSeconds ?? 1,
      max_runs: draft.maxRuns ?? 1,
      processes: draft.residentProcesses ?? 1,
    },
    retry: {
      max_attempts: draft.maxAttempts ?? 1,
      backoff_seconds: draft.backoffSeconds ?? 0,
      backoff_factor: draft.backoffFactor ?? 1,
      max_backoff_seconds: draft.maxBackoffSeconds ?? 0,
    },
    environment: Object.fromEntries(
      linesOf(draft.environment).map((line) => {
        const [name = ''] = line.split('=', 1);
        return [name, line.slice(name.length + 1)];
      }),
    ),
  };
}

/** Returns the entries of `wanted` that differ from `before`. Removed entries are null. */
function differing<Fields extends Record<string, unknown>>(before: Fields, wanted: Fields): object {
  const names = new Set([...Object.keys(before), ...Object.keys(wanted)]);
  const changed = [...names].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(wanted[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, wanted[name] ?? null]));
}

/** Splits text at commas and removes duplicates. */
function itemsOf(text: string): string[] {
  return [...new Set(text.split(',').map((item) => item.trim()))].filter((item) => item !== '');
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && (Number(text) === 0 || isBetween(Number(text), 1024, 65_535));
}

function isBetween(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trimStart())
    .filter((line) => line !== '');
}

function isSchema(text: string): boolean {
  try {
    const value = schemaOf(text);
    return value === null || (typeof value === 'object' && !Array.isArray(value));
  } catch {
    return false;
  }
}

function schemaOf(text: string): Script['parameters_schema'] {
  return text.trim() === '' ? null : (JSON.parse(text) as Script['parameters_schema']);
}
