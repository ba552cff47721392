/** Reads the complete configuration of all groups, without deleted resources. */
import type { FileVersion } from '#domain/script/events.ts';
import type { ChainsTable } from '#projections/chains/table.ts';
import type { ChannelsTable } from '#projections/channels/table.ts';
import type { GroupsTable } from '#projections/groups/table.ts';
import type { RulesTable } from '#projections/rules/table.ts';
import type { ScriptsTable } from '#projections/scripts/table.ts';
import type { ReadModels } from '#projections/projection.ts';
import type { SchedulesTable } from '#projections/schedules/table.ts';
import { statement } from '#projections/statement.ts';
import type { WebhooksTable } from '#projections/webhooks/table.ts';

/** A resource of a script. `hidden` is true if the script was deleted and can still be restored. */
interface Owned {
  readonly hidden: boolean;
}

export const ownedSchedules = statement<SchedulesTable & Owned>(`SELECT w.*, s.deleted AS hidden
  FROM schedules w JOIN scripts s USING (script_id) WHERE NOT w.deleted AND s.purge IS NULL`);

export const ownedWebhooks = statement<WebhooksTable & Owned>(`SELECT w.*, s.deleted AS hidden
  FROM webhooks w JOIN scripts s USING (script_id) WHERE NOT w.deleted AND s.purge IS NULL`);

export const ownedChains = statement<
  ChainsTable & Owned
>(`SELECT c.*, s.deleted OR t.deleted AS hidden
  FROM chains c JOIN scripts s ON s.script_id = c.source_script_id
    JOIN scripts t ON t.script_id = c.target_script_id
  WHERE NOT c.deleted AND s.purge IS NULL AND t.purge IS NULL`);

export const configuredScripts = statement<ScriptsTable>(
  `SELECT * FROM scripts WHERE purge IS NULL`,
);

export const configuredGroups = statement<GroupsTable & { readonly in_use: boolean }>(`
  SELECT *, EXISTS (SELECT FROM scripts s WHERE s.group_id = g.group_id) AS in_use FROM groups g`);

export const configuredChannels = statement<ChannelsTable>(
  `SELECT * FROM notification_channels WHERE NOT deleted`,
);

export const configuredRules = statement<RulesTable>(`SELECT * FROM notification_rules`);

/** For tables as of an earlier time: marks scripts that have been purged since as deleted, because their files no
 *  longer exist. */
export const hidePurgedScripts = statement(`
  UPDATE scripts SET deleted = true, purge = now.purge FROM public.scripts now
  WHERE now.script_id = scripts.script_id AND now.purge IS NOT NULL`);

/** Returns the current files of every script, ordered by script and path. */
export async function newestFiles(
  db: ReadModels,
): Promise<ReadonlyMap<string, readonly FileVersion[]>> {
  return byScript(await files(db));
}

const files = statement<FileVersion & { readonly script_id: string }>(`
  SELECT script_id, path, sha256, size_bytes AS "sizeBytes" FROM (
    SELECT DISTINCT ON (script_id, path) * FROM script_files ORDER BY script_id, path, version DESC
  ) latest WHERE sha256 IS NOT NULL ORDER BY script_id, path COLLATE "C"`);

/** Returns the sorted secret names of every script. */
export async function secretNames(db: ReadModels): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = byScript(await names(db));
  return new Map([...found].map(([scriptId, rows]) => [scriptId, rows.map(({ name }) => name)]));
}

const names = statement<{ readonly script_id: string; readonly name: string }>(
  `SELECT script_id, name FROM secrets WHERE sealed IS NOT NULL ORDER BY script_id, name COLLATE "C"`,
);

/** Returns which of the streams exist. */
export async function knownStreams(
  db: ReadModels,
  streamIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await streams(db, streamIds)).map((row) => row.stream_id));
}

const streams = statement<{ readonly stream_id: string }>(
  `SELECT stream_id FROM streams WHERE stream_id = ANY($1)`,
);

function byScript<Row extends { readonly script_id: string }>(
  rows: readonly Row[],
): ReadonlyMap<string, readonly Row[]> {
  return Map.groupBy(rows, (row) => row.script_id);
}
