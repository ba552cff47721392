/** The differences between a run and the last successful run of its script. */
import type { Principal } from '#domain/kernel/actor.ts';
import type { Recorded } from '#domain/aggregates.ts';
import { mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { hasRightAnywhere, type Right } from '#domain/kernel/rights.ts';
import type { ScriptEvent } from '#domain/script/events.ts';
import type { SecretEvent } from '#domain/secret/events.ts';
import type { GroupSecretEvent } from '#domain/group-secret/events.ts';
import type { SecretUseEvent } from '#domain/secret-use/events.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { PostgresEnvironmentLocks } from '#infra/postgres/operations/environment-locks.ts';
import { readReports } from '#infra/postgres/logs/run-reports.ts';
import { streamVersionOf } from '#infra/postgres/event-store/streams-at.ts';
import { actorName } from '#projections/actors.ts';
import { listRuns } from '#projections/runs/lists.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import { readParams } from '#infra/postgres/operations/params.ts';
import { canSeeScriptOrDeleted, visibleGroups } from '../access/visibility.ts';
import {
  changedPaths,
  changedSettings,
  diffOf,
  fileJson,
  scriptOfVersion,
} from '../scripts/history/diff.ts';
import { wireName } from '../scripts/history/schema.ts';
import type { Services } from '../services.ts';

/** The maximum number of compared files. Further files are only counted. */
const maxFiles = 100;

/** Settings that this comparison omits, because other parts of the response cover them. Values of environment
 *  variables must not be shown. */
const shownElsewhere: ReadonlySet<string> = new Set(['environment', 'python', 'resolution']);

/** Settings that a run may override. For these settings, the comparison uses the runs' values. */
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
  const canSeeScript = await canSeeScriptOrDeleted(principal, scriptId, services.readModels);
  const may = (right: Right) => canSeeScript && hasRightAnywhere(principal, right);
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

/** The script in the versions of both runs; `undefined` if the script was purged. */
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
  const failing = await filesInError(pair.run, services);
  const inError = ({ path }: { readonly path: string }) => failing.has(path);
  const changed = changedPaths(one, other).toSorted(
    (a, b) => Number(inError(b)) - Number(inError(a)),
  );
  const changes = await lastChanges(pair, services);
  const compared = [];
  for (const each of changed.slice(0, maxFiles)) {
    compared.push({
      ...fileJson(each),
      ...(await diffOf(services.objects, scriptId, each)),
      in_error: inError(each),
      last_change: changes.get(each.path) ?? null,
    });
  }
  return { files: compared, files_omitted: changed.length - compared.length };
}

/** The files of the script that appear in the traceback of the run's error or its causes. */
async function filesInError({ run_id: runId }: RunsTable, { database }: Services) {
  const error = (await readReports(database, [runId])).get(runId)?.error;
  const exceptions = error ? [error, ...error.causes] : [];
  const own = exceptions.flatMap(({ frames }) => frames.filter((frame) => frame.own));
  return new Set(own.map(({ file }) => file));
}

/** The last change to each file between the two versions. */
async function lastChanges({ base, run }: Pair, { database }: Services) {
  const stream = `script-${run.script_id}` as const;
  const from = await streamVersionOf(database, stream, base.script_version);
  const changes = new Map<string, { version: number; time: Date; actor: string }>();
  // The base run used the latest version, so no file has changed.
  if (from === undefined) return changes;
  const events = (await readStream(database, stream, from + 1)) as readonly Recorded<ScriptEvent>[];
  for (const { type, data, recordedAt, metadata } of events) {
    const paths = pathsOf({ type, data } as ScriptEvent);
    if (!('version' in data) || data.version > run.script_version) continue;
    const change = { version: data.version, time: recordedAt, actor: actorName(metadata.actor) };
    for (const path of paths) changes.set(path, change);
  }
  return changes;
}

/** The paths of the files that a script event changes. */
function pathsOf(event: ScriptEvent): readonly string[] {
  switch (event.type) {
    case 'FileSaved':
    case 'FileDeleted':
      return [event.data.path];
    case 'FileMoved':
      return [event.data.from, event.data.path];
    case 'FilesRestored':
      return [...event.data.saved.map(({ path }) => path), ...event.data.deleted];
    default:
      return [];
  }
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
  // If a run has no lock, its packages are unknown, so no differences are listed.
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

/** The secrets of the script and its group whose versions differ between the runs. If a run did not read a secret,
 *  the version at the start of the run is compared. */
async function secrets({ base, run }: Pair, { database }: Services) {
  const versionsOf = async ({ run_id, group_id, started_at, queued_at }: RunsTable) => {
    const versions = new Map<string, string>();
    // A secret of the script takes precedence over a secret of the group.
    for (const stream of [`group_secret-${group_id}`, `secret-${run.script_id}`] as const) {
      const history = (await readStream(database, stream, 1)) as readonly Recorded<
        SecretEvent | GroupSecretEvent
      >[];
      const set = new Map<string, number>();
      for (const { type, data, recordedAt } of history) {
        if (recordedAt > (started_at ?? queued_at)) break;
        if (type === 'SecretSet' || type === 'GroupSecretSet') set.set(data.name, data.version);
        else set.delete(data.name);
      }
      for (const [name, version] of set) versions.set(name, `${stream} ${version}`);
    }
    const reads = (await readStream(
      database,
      `secret_use-${run_id}`,
      1,
    )) as readonly Recorded<SecretUseEvent>[];
    for (const { data } of reads) {
      for (const { name, version, groupId } of data.secrets) {
        const stream =
          groupId === undefined ? `secret-${run.script_id}` : `group_secret-${groupId}`;
        versions.set(name, `${stream} ${version}`);
      }
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

/** Like `differences`, but without the values, for data that must not be shown. */
function namesThatDiffer(before: object, after: object) {
  return differences(before, after).map(({ name, ...each }) => ({
    name,
    change: each.before === null ? 'added' : each.after === null ? 'removed' : 'changed',
  }));
}
