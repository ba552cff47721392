/** What deciders may ask, answered from the read models inside the append's transaction. */
import type { ScriptFacts, World } from '#domain/kernel/aggregate.ts';
import { sql } from 'kysely';
import { gathered } from './gathered.ts';
import type { ReadModels } from './projection.ts';
import { heldTriggers } from './trigger-state/queries.ts';

/** The world as `db` sees it. */
export function worldOf(db: ReadModels): World {
  return {
    script: gathered((scriptIds) => scriptFacts(db, scriptIds)),
    groupExists: async (groupId) =>
      (await db
        .selectFrom('groups')
        .select('group_id')
        .where('group_id', '=', groupId)
        .executeTakeFirst()) !== undefined,
    dataKeyExists: async (keyId) =>
      (await db
        .selectFrom('data_keys')
        .select('key_id')
        .where('key_id', '=', keyId)
        .executeTakeFirst()) !== undefined,
    emailTaken: async (email) =>
      (await db
        .selectFrom('users')
        .select('user_id')
        .where('email', '=', email)
        .executeTakeFirst()) !== undefined,
  };
}

async function scriptFacts(
  db: ReadModels,
  scriptIds: readonly string[],
): Promise<ReadonlyMap<string, ScriptFacts>> {
  const rows = await db
    .selectFrom('scripts')
    .select([
      'script_id',
      'name',
      'group_id as groupId',
      'version',
      'enabled',
      'deleted',
      'entrypoint',
    ])
    .select(['environment', 'python', 'start_mode as startMode', 'resolution'])
    .select((expression) => [
      'max_concurrent_runs as maxConcurrentRuns',
      expression.ref('limits').$castTo<ScriptFacts['limits']>().as('limits'),
      sql<number>`(SELECT count(*) FROM run_queue q WHERE q.script_id = scripts.script_id
        AND NOT q.waiting)`.as('activeRuns'),
      sql<number>`(SELECT count(*) FROM run_queue q JOIN runs r USING (run_id)
        WHERE q.script_id = scripts.script_id AND q.waiting AND q.available_at <= now()
        AND NOT (r.trigger_type IN ${heldTriggers}
          AND EXISTS (SELECT FROM trigger_state WHERE paused)))`.as('waitingRuns'),
    ])
    .where(sql<boolean>`script_id = ANY(${scriptIds}::uuid[])`)
    .execute();
  return new Map(rows.map(({ script_id: id, ...facts }) => [id, facts]));
}
