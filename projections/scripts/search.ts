/** Selects scripts for lists of other resources that can be filtered by script. */
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModels } from '../projection.ts';

export interface ScriptSearch {
  /** Includes scripts of these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  readonly scriptId?: ScriptId;
  /** Includes only these scripts. */
  readonly among?: readonly string[];
  /** Text that must occur in the script name, ignoring case. */
  readonly text?: string;
}

/** Returns the IDs of matching scripts, including deleted scripts. */
export async function searchScripts(
  db: ReadModels,
  { groupIds, scriptId, among, text }: ScriptSearch,
): Promise<readonly string[]> {
  let query = db.selectFrom('scripts').select('script_id');
  if (scriptId !== undefined) query = query.where('script_id', '=', scriptId);
  if (among !== undefined) query = query.where(sql<boolean>`script_id = ANY(${among}::uuid[])`);
  if (groupIds !== null) query = query.where(sql<boolean>`group_id = ANY(${groupIds}::uuid[])`);
  if (text !== undefined) query = query.where(nameContains(text));
  return (await query.execute()).map((row) => row.script_id);
}

/** Returns the condition that a script's name contains the text, ignoring case. The condition uses an index. */
export function nameContains(text: string): RawBuilder<boolean> {
  return sql<boolean>`lower(scripts.name) LIKE ${containing(text)}`;
}

/** Returns a LIKE pattern that matches lower-case values containing the text. */
export function containing(text: string): RawBuilder<string> {
  const literally = text.replaceAll(/[\\%_]/g, String.raw`\$&`);
  return sql<string>`'%' || lower(${literally}) || '%'`;
}

/** Returns the number of scripts and the number of enabled scripts. */
export async function countScripts(
  db: ReadModels,
  groupIds: readonly GroupId[] | null,
): Promise<{ readonly total: number; readonly enabled: number }> {
  let query = db
    .selectFrom('scripts')
    .select([
      sql<number>`count(*)`.as('total'),
      sql<number>`count(*) FILTER (WHERE enabled)`.as('enabled'),
    ])
    .where(sql<boolean>`NOT deleted`);
  if (groupIds !== null) query = query.where(sql<boolean>`group_id = ANY(${groupIds}::uuid[])`);
  return await query.executeTakeFirstOrThrow();
}
