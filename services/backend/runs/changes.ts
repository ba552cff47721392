/** The differences between a run and the last successful run of its script. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { Recorded } from '#domain/aggregates.ts';
import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { mayAnywhere, type Right } from '#domain/kernel/rights.ts';
import type { SecretEvent } from '#domain/secret/events.ts';
import type { SecretUseEvent } from '#domain/secret-use/events.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import { listRuns } from '#projections/runs/lists.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { readParams } from '#services/shared/params.ts';
import { seesScriptOrDeleted, visibleGroups } from '../access/visibility.ts';
import {
  changedPaths,
  changedSettings,
  diffOf,
  fileJson,
  scriptOfVersion,
} from '../scripts/history/diff.ts';
import { wireName } from '../scripts/history/schema.ts';
import type { Services } from '../services.ts';

/** More files are counted, and not compared. */
const maxFiles = 100;

/** Settings that other parts of the answer contain. Values of variables are confidential in this answer. */
const shownElsewhere: ReadonlySet<string> = new Set(['environment', 'python', 'resolution']);

/** Settings that a run may override. */
const ofRuns: ReadonlySet<string> = new Set(['entrypoint', 'limits', 'startMode', 'listenPorts']);

export async function changesOf(principal: Principal, run: RunsTable, services: Services) {
  const base = await lastSuccessBefore(principal, run, services);
  const nothing = { files: null, files_omitted: 0, settings: null, environment: null };
  const compared = { run_id: run.run_id, to: run.script_version };
  if (base === undefined) {
    const rest = { parameters: null, configuration: null, runtime: [] };
    return { ...compared, base_run_id: null, from: null, ...nothing, ...rest };
  }
  const scriptId = mustParse(parseScriptId, run.script_id);
  const seesScript = await seesScriptOrDeleted(principal, scriptId, services.readModels);
  const may = (right: Right) => seesScript && mayAnywhere(principal, right);
  const pair = { base, run };
  return {
    ...compared,
    base_run_id: base.run_id,
    from: base.script_version,
    ...(may('files.read') ? await files(pair, services) : { files: null, files_omitted: 0 }),
    settings: may('scripts.list') ? await settings(pair, services) : null,
    environment: may('files.read') ? await environment(pair, services) : null,
    parameters: await parameters(pair, services),
    configuration: {
      variables: may('scripts.list') ? namesThatDiffer(base.environment, run.environment) : null,
      secrets: may('secrets.manage') ? await secrets(pair, services) : null,
    },
    runtime: differences(runtimeOf(base), runtimeOf(run)),
  };
}

interface Pair {
  readonly base: RunsTable;
  readonly run: RunsTable;
}

async function lastSuccessBefore(
  principal: Principal,
  run: RunsTable,
  { readModels }: Services,
): Promise<RunsTable | undefined> {
  const scriptId = mustParse(parseScriptId, run.script_id);
  const filter = { groupIds: visibleGroups(principal), scriptId, statuses: ['success'] } as const;
  const [last] = await listRuns(readModels, filter, mustParse(parseRunId, run.run_id), 1);
  return last && (await findRun(readModels, mustParse(parseRunId, last.run_id)));
}

/** The script at the versions of both runs; `undefined` if it was purged. */
async function versionsOf({ base, run }: Pair, { database }: Services) {
  const scriptId = mustParse(parseScriptId, run.script_id);
  const [one, other] = await Promise.all([
    scriptOfVersion(database, scriptId, base.script_version),
    scriptOfVersion(database, scriptId, run.script_version),
  ]);
  return one && other && { scriptId, one, other };
}

async function files(pair: Pair, services: Services) {
  const versions = await versionsOf(pair, services);
  if (versions === undefined) return { files: null, files_omitted: 0 };
  const { scriptId, one, other } = versions;
  const changed = changedPaths(one, other);
  const compared = [];
  for (const each of changed.slice(0, maxFiles)) {
    compared.push({ ...fileJson(each), ...(await diffOf(services.objects, scriptId, each)) });
  }
  return { files: compared, files_omitted: changed.length - compared.length };
}

async function settings(pair: Pair, services: Services) {
  const versions = await versionsOf(pair, services);
  if (versions === undefined) return null;
  const ofScript = changedSettings(versions.one, versions.other)
    .filter(({ name }) => !shownElsewhere.has(name) && !ofRuns.has(name))
    .map((each) => ({ ...each, name: wireName(each.name) }));
  return [...ofScript, ...differences(overridable(pair.base), overridable(pair.run))];
}

function overridable({ entrypoint, limits, start_mode, listen_ports }: RunsTable) {
  return { entrypoint, limits, start_mode, listen_ports };
}

async function environment({ base, run }: Pair, { database }: Services) {
  const scriptId = mustParse(parseScriptId, run.script_id);
  const locks = new PostgresEnvironmentLocks(database);
  const packagesOf = async ({ script_version: version }: RunsTable) => {
    const all = await locks.ofVersion(scriptId, version);
    const last = all.toSorted((one, other) => Number(one.lockedAt) - Number(other.lockedAt)).at(-1);
    const pins = last?.lock.split('\n').map((line) => line.split(' ')[0] ?? '');
    return pins && Object.fromEntries(pins.filter(Boolean).map((pin) => pin.split('==')));
  };
  const [before, after] = [await packagesOf(base), await packagesOf(run)];
  const python = base.python === run.python ? null : { before: base.python, after: run.python };
  // Without a lock, the packages of a run are unknown.
  return { python, packages: before && after ? differences(before, after) : [] };
}

/** @returns `null` if the parameters are no longer stored */
async function parameters({ base, run }: Pair, { database }: Services) {
  const stored = await readParams(database, [base.params_sha256, run.params_sha256]);
  const isLost = ({ params_sha256: hash }: RunsTable) => hash !== null && !stored.has(hash);
  if (isLost(base) || isLost(run)) return null;
  const paramsOf = ({ params_sha256: hash }: RunsTable) => (stored.get(hash) ?? {}) as object;
  return differences(paramsOf(base), paramsOf(run));
}

/** The secrets whose versions differ. A secret that a run did not read has its version at the start of the run. */
async function secrets({ base, run }: Pair, { database }: Services) {
  const history = (await readStream(
    database,
    `secret-${run.script_id}`,
    1,
  )) as readonly Recorded<SecretEvent>[];
  const versionsOf = async ({ run_id, started_at, queued_at }: RunsTable) => {
    const versions = new Map<string, number>();
    for (const { type, data, recordedAt } of history) {
      if (recordedAt > (started_at ?? queued_at)) break;
      if (type === 'SecretSet') versions.set(data.name, data.version);
      else versions.delete(data.name);
    }
    const reads = (await readStream(
      database,
      `secret_use-${run_id}`,
      1,
    )) as readonly Recorded<SecretUseEvent>[];
    for (const { data } of reads) {
      for (const { name, version } of data.secrets) versions.set(name, version);
    }
    return Object.fromEntries(versions);
  };
  return namesThatDiffer(await versionsOf(base), await versionsOf(run));
}

function runtimeOf({ runtime_id, layers }: RunsTable) {
  return { runtime_id, layers };
}

/** The values that differ, by name. */
function differences(before: object, after: object) {
  const [one, other] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...one.keys(), ...other.keys()])]
    .toSorted()
    .map((name) => ({ name, before: one.get(name) ?? null, after: other.get(name) ?? null }))
    .filter((each) => JSON.stringify(each.before) !== JSON.stringify(each.after));
}

/** The names whose values differ, without the values. */
function namesThatDiffer(before: object, after: object) {
  return differences(before, after).map(({ name, ...each }) => ({
    name,
    change: each.before === null ? 'added' : each.after === null ? 'removed' : 'changed',
  }));
}
