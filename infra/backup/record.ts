/** Records the events that follow the restored history. */
import type { BackupContent } from '#domain/backup/backup.ts';
import type { Actor } from '#domain/kernel/actor.ts';
import type { NewEvent, StreamId } from '#domain/kernel/event.ts';
import {
  mustParse,
  parseBackupId,
  parseCommandId,
  parseEventId,
  type BackupId,
} from '#domain/kernel/ids.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { appendEvents } from '#infra/postgres/event-store/event-store.ts';
import type { EndedAccess } from './ended-access.ts';
import type { BackupSummary } from './format.ts';

export interface RecordOptions {
  readonly summary: BackupSummary;
  /** The user who requested the restore. */
  readonly actor: Actor;
  readonly ids: Ids;
  readonly now: () => Date;
}

type Fact = Pick<EndedAccess, 'stream_id' | 'type' | 'data'>;

/** Records the restore, cancels other requested restores, and repeats the revocations of access that followed the
 *  backup.
 *  @returns the number of recorded events */
export async function recordRestore(
  db: Queryable,
  { summary, actor, ids, now }: RecordOptions,
  ended: readonly EndedAccess[],
): Promise<number> {
  const backupId = mustParse(parseBackupId, summary.backupId);
  const commandId = mustParse(parseCommandId, ids.next());
  const metadata = { commandId, actor, ip: null, correlationId: commandId, causationId: null };
  const others = (await askedFor(db)).filter((id) => id !== backupId);
  const reason = 'Another backup was restored.';
  const facts: readonly Fact[] = [
    restored(backupId, summary),
    ...others.map((id) => ({
      stream_id: `backup-${id}`,
      type: 'RestoreFailed',
      data: { backupId: id, reason },
    })),
    ...ended,
  ];
  const streams = Map.groupBy(facts, (fact) => fact.stream_id);
  const versions = await versionsOf(db, [...streams.keys()]);
  const appends = [...streams].map(([streamId, all]) => ({
    streamId: streamId as StreamId,
    expectedVersion: versions.get(streamId) ?? 0,
    events: all.map(({ type, data }): NewEvent => ({
      eventId: mustParse(parseEventId, ids.next()),
      type,
      schemaVersion: 1,
      data,
      metadata,
    })),
  }));
  return (await appendEvents(db, appends, now())).length;
}

function restored(backupId: BackupId, summary: BackupSummary): Fact {
  const data = { backupId, content: contentOf({ summary }) };
  return { stream_id: `backup-${backupId}`, type: 'BackupRestored', data };
}

/** Converts the manifest to the backup content that the domain uses. */
export function contentOf({ summary }: { readonly summary: BackupSummary }): BackupContent {
  const { kind, position, events, sizeBytes, sha256, encrypted, version } = summary;
  const { createdAt, finishedAt } = summary;
  return { kind, position, events, sizeBytes, sha256, encrypted, version, createdAt, finishedAt };
}

async function versionsOf(
  db: Queryable,
  streams: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ stream_id: string; version: number }>(
    'SELECT stream_id, version FROM streams WHERE stream_id = ANY ($1)',
    [streams],
  );
  return new Map(rows.map(({ stream_id: id, version }) => [id, version]));
}

/** Returns the backups that had a pending restore when the backup was created. These restores must not run later. */
async function askedFor(db: Queryable): Promise<readonly BackupId[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT asked.data ->> 'backupId' AS id FROM events asked
     WHERE asked.type = 'RestoreRequested' AND NOT EXISTS (
       SELECT FROM events later WHERE later.stream_id = asked.stream_id
         AND later.version > asked.version AND later.type IN ('RestoreFailed', 'BackupRestored'))`,
    [],
  );
  return rows.map(({ id }) => mustParse(parseBackupId, id));
}
