/** Current names of the resources of audit entries. */
import { sql } from 'kysely';
import type { ReadModels } from '../projection.ts';

const form = /^(script|secret|schedule|webhook|run|user|group)-([0-9a-f-]{36})$/;

/** Names by resource. A schedule, a run and the secrets of a script have the name of their script, a user the e-mail
 *  address. Resources that no longer exist have no name. */
export async function resourceNames(
  db: ReadModels,
  resources: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = Map.groupBy(
    resources.flatMap((resource) => {
      const [, kind = '', id = ''] = form.exec(resource) ?? [];
      return kind === '' ? [] : [{ kind, id }];
    }),
    ({ kind }) => kind,
  );
  if (ids.size === 0) return new Map();
  const idsOf = (kind: string) => sql`ANY(${ids.get(kind)?.map(({ id }) => id) ?? []}::uuid[])`;
  const { rows } = await sql<{ resource: string; name: string }>`
    SELECT 'script-' || script_id AS resource, name FROM scripts WHERE script_id = ${idsOf('script')}
    UNION ALL SELECT 'secret-' || script_id, name FROM scripts WHERE script_id = ${idsOf('secret')}
    UNION ALL SELECT 'schedule-' || schedule_id, scripts.name FROM schedules JOIN scripts USING (script_id)
      WHERE schedule_id = ${idsOf('schedule')}
    UNION ALL SELECT 'webhook-' || webhook_id, name FROM webhooks WHERE webhook_id = ${idsOf('webhook')}
    UNION ALL SELECT 'run-' || run_id, script_name FROM runs WHERE run_id = ${idsOf('run')}
    UNION ALL SELECT 'user-' || user_id, email FROM users WHERE user_id = ${idsOf('user')}
    UNION ALL SELECT 'group-' || group_id, name FROM groups WHERE group_id = ${idsOf('group')}`.execute(
    db,
  );
  return new Map(rows.map(({ resource, name }) => [resource, name]));
}
