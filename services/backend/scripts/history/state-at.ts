/** Scripts as of a point in time, folded from their own streams, without read models. */
import { groupAggregate } from '#domain/group/decide.ts';
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import { scriptAggregate } from '#domain/script/decide.ts';
import {
  storageUsedBytes,
  type PresentFile,
  type PresentScript,
  type ScriptState,
} from '#domain/script/state.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { stateAt, stateOf } from '#infra/postgres/event-store/states-at.ts';
import { readVersions, versionsAt, type Moment } from '#infra/postgres/event-store/streams-at.ts';
import { actorName } from '#projections/actors.ts';
import { settingColumns } from '#projections/scripts/apply.ts';
import type { ScriptFileView } from '#projections/scripts/files.ts';
import type { ScriptView } from '#projections/scripts/queries.ts';

export interface PastScript {
  readonly scriptId: ScriptId;
  readonly moment: Moment;
  /** The number of the script's events up to the requested time. */
  readonly streamVersion: number;
  /** `undefined` before the creation of the script and after its deletion. */
  readonly script: PresentScript | undefined;
  /** The current group of the script, or the last group of a deleted script; `undefined` if the script never
   *  existed. */
  readonly groupIdNow: GroupId | undefined;
}

/** @param moment a moment that is not in the future */
export async function readPastScript(
  db: Queryable,
  scriptId: ScriptId,
  moment: Moment,
): Promise<PastScript> {
  const streamId = `script-${scriptId}` as const;
  const streamVersion = (await versionsAt(db, [streamId], moment)).get(streamId) ?? 0;
  const [now, then] = await Promise.all([
    scriptStateAt(db, scriptId),
    scriptStateAt(db, scriptId, streamVersion),
  ]);
  return {
    scriptId,
    moment,
    streamVersion,
    script: then.status === 'present' ? then : undefined,
    groupIdNow: now.status === 'absent' ? undefined : now.groupId,
  };
}

/** The state of a script after its first `until` events; by default, after all of them. */
export async function scriptStateAt(
  db: Queryable,
  scriptId: ScriptId,
  until?: number,
): Promise<ScriptState> {
  return await stateOf(db, scriptAggregate, `script-${scriptId}`, until);
}

/** The script as shown in lists, but without its last run, because the script's stream contains no runs. */
export async function pastView(
  db: Queryable,
  { scriptId, moment, streamVersion }: PastScript,
  script: PresentScript,
): Promise<ScriptView> {
  const [events, group] = await Promise.all([
    readVersions(db, `script-${scriptId}`, [1, streamVersion]),
    groupName(db, script.groupId, moment),
  ]);
  const [created, updated] = [events.get(1), events.get(streamVersion)];
  if (created === undefined || updated === undefined)
    throw new Error('an event is missing from the stream of the script');
  return {
    script_id: scriptId,
    stream_version: streamVersion,
    name: script.name,
    description: script.description,
    group_id: script.groupId,
    group,
    enabled: script.enabled,
    deleted: false,
    purge: null,
    ...settingColumns(script.settings),
    expectations_since: null,
    storage_used_bytes: storageUsedBytes(script.files.values()),
    source: script.source,
    version: script.version,
    created_at: created.recordedAt,
    created_by: actorName(created.metadata.actor),
    updated_at: updated.recordedAt,
    updated_by: actorName(updated.metadata.actor),
    last_run: null,
  };
}

/** The name of a group at a point in time. */
async function groupName(db: Queryable, groupId: GroupId, moment: Moment): Promise<string> {
  const group = await stateAt(db, groupAggregate, `group-${groupId}`, moment);
  return group.status === 'present' ? group.look.name : '';
}

/** The first `limit` files whose paths follow `after`, as shown in lists, sorted by the bytes of their paths. */
export async function pastFiles(
  db: Queryable,
  scriptId: ScriptId,
  { files }: PresentScript,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly ScriptFileView[]> {
  const behind = [...files.values()].filter(({ path }) => inBytes(path, after) > 0);
  const wanted = behind.toSorted((one, other) => inBytes(one.path, other.path)).slice(0, limit);
  const versions = wanted.map(({ since }) => since);
  const events = await readVersions(db, `script-${scriptId}`, versions);
  return wanted.map((file) => fileView(file, events.get(file.since)?.recordedAt));
}

function inBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function fileView({ path, sha256, sizeBytes }: PresentFile, savedAt: Date | undefined) {
  if (savedAt === undefined) throw new Error('an event is missing from the stream of the script');
  return { path, sha256, size_bytes: sizeBytes, saved_at: savedAt };
}
