/** Implements the queries of decisions. They read the read models in the transaction of the append. */
import type { ScriptFacts, DecisionReads } from '#domain/kernel/aggregate.ts';
import { hasOtherApprover } from './approvals/queries.ts';
import { isCalendarInUse } from './calendars/queries.ts';
import { chainFacts, chainLinks } from './chains/queries.ts';
import { sql } from 'kysely';
import { batched } from './batched.ts';
import { isPoolInUse, poolFacts } from './pools/queries.ts';
import type { ReadModels } from './projection.ts';
import { firstWaiting } from './run-queue/waiting.ts';
import { runsOfDueTimes, scheduleFacts } from './schedules/queries.ts';
import { groupsOfStore, usersOfStore } from './secret-stores/queries.ts';
import { statement } from './statement.ts';
import { findUserByIdentity } from './users/queries.ts';

/** Returns the queries of decisions, executed with `db`. */
export function decisionReads(db: ReadModels): DecisionReads {
  return {
    script: batched((scriptIds) => scriptFacts(db, scriptIds)),
    schedule: batched((scheduleIds) => scheduleFacts(db, scheduleIds)),
    dueTimeHasRun: async (scheduleId, dueAt) =>
      (await runsOfDueTimes(db, scheduleId, [new Date(dueAt)])).size > 0,
    chainLinks: () => chainLinks(db),
    chain: (chainId, sourceRunId) => chainFacts(db, chainId, sourceRunId),
    channelExists: async (channelId) =>
      (await db
        .selectFrom('notification_channels')
        .select('channel_id')
        .where('channel_id', '=', channelId)
        .where('deleted', '=', false)
        .executeTakeFirst()) !== undefined,
    channelInUse: async (channelId) =>
      (await db
        .selectFrom('notification_rules')
        .select('rule_id')
        .where(sql<boolean>`settings -> 'channelIds' ? ${channelId}`)
        .executeTakeFirst()) !== undefined,
    groupExists: async (groupId) =>
      (await db
        .selectFrom('groups')
        .select('group_id')
        .where('group_id', '=', groupId)
        .executeTakeFirst()) !== undefined,
    nameTaken: async (kind, name, id) => (await nameTaken[kind](db, name, id))[0]?.found ?? false,
    groupInUse: async (groupId) =>
      (await db
        .selectFrom('scripts')
        .select('script_id')
        .where('group_id', '=', groupId)
        .limit(1)
        .executeTakeFirst()) !== undefined,
    otherAdministrator: async (userId) =>
      (await db
        .selectFrom('users')
        .select('user_id')
        .where('role', '=', 'administrator')
        .where('disabled', '=', false)
        .where('user_id', '<>', userId)
        .limit(1)
        .executeTakeFirst()) !== undefined,
    otherApprover: (userId, groupId, action) => hasOtherApprover(db, userId, groupId, action),
    secretStoreGroups: (storeId) => groupsOfStore(db, storeId),
    secretStoreUsers: (storeId) => usersOfStore(db, storeId),
    dataKeyExists: async (keyId) =>
      (await db
        .selectFrom('data_keys')
        .select('key_id')
        .where('key_id', '=', keyId)
        .executeTakeFirst()) !== undefined,
    identityTaken: async (identity, userId) => {
      const account = await findUserByIdentity(db, identity);
      return account !== undefined && account.user_id !== userId;
    },
    calendarExists: async (calendarId) =>
      (await db
        .selectFrom('calendars')
        .select('calendar_id')
        .where('calendar_id', '=', calendarId)
        .executeTakeFirst()) !== undefined,
    calendarInUse: (calendarId) => isCalendarInUse(db, calendarId),
    pool: (name) => poolFacts(db, name),
    poolInUse: (name) => isPoolInUse(db, name),
    emailTaken: async (email) =>
      (await db
        .selectFrom('users')
        .select('user_id')
        .where('email', '=', email)
        .executeTakeFirst()) !== undefined,
  };
}

const named = (table: string, id: string, name: string, condition = 'true') =>
  statement<{ readonly found: boolean }>(`SELECT EXISTS (
    SELECT FROM ${table} WHERE lower(${name}) = lower($1) AND ${id} <> $2 AND ${condition}) AS found`);

const nameTaken = {
  group: named('groups', 'group_id', 'name'),
  repository: named('repositories', 'repository_id', `settings ->> 'name'`, 'NOT deleted'),
  secret_store: named('secret_stores', 'secret_store_id', `settings ->> 'name'`, 'NOT deleted'),
} as const;

type FactsRow = ScriptFacts & { readonly script_id: string };

const factsOf = statement<FactsRow>(`
  SELECT script_id, name, group_id AS "groupId", version, enabled, deleted, entrypoint, environment,
    python, start_mode AS "startMode", listen_ports AS "listenPorts", runs_on AS "runsOn", pools, resolution, source,
    (protected ->> 'run')::boolean AS "protectedRun",
    max_concurrent_runs AS "maxConcurrentRuns", limits,
    (SELECT count(*) FROM run_queue q WHERE q.script_id = s.script_id AND NOT q.waiting)
      AS "activeRuns",
    (SELECT count(*) FROM ${firstWaiting('s.script_id', 's.max_concurrent_runs')} waiting)
      AS "waitingRuns"
  FROM scripts s WHERE script_id = ANY($1::uuid[])`);

async function scriptFacts(
  db: ReadModels,
  scriptIds: readonly string[],
): Promise<ReadonlyMap<string, ScriptFacts>> {
  const rows = await factsOf(db, scriptIds);
  return new Map(rows.map(({ script_id: id, ...facts }) => [id, facts]));
}
