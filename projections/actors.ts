import type { Actor } from '#domain/kernel/actor.ts';
import { sql } from 'kysely';

/** How an actor is shown in lists: the e-mail address of a person, with the name of the API token that they
 *  used, or the name of a part. */
export function actorName(actor: Actor): string {
  switch (actor.kind) {
    case 'user':
      return actor.token === undefined ? actor.email : `${actor.email} (token ${actor.token.name})`;
    case 'system':
      return actor.name;
    case 'webhook':
      return `webhook ${actor.name}`;
    case 'anonymous':
      return 'anonymous';
  }
}

/** `actorName` in SQL, of the event that `event` names in a statement. */
export function actorNameSql(event: string) {
  const actor = sql.raw(`${event}.metadata -> 'actor'`);
  return sql`CASE ${actor} ->> 'kind' WHEN 'user' THEN (${actor} ->> 'email')
      || coalesce(' (token ' || (${actor} #>> '{token,name}') || ')', '')
    WHEN 'system' THEN ${actor} ->> 'name'
    WHEN 'webhook' THEN 'webhook ' || (${actor} ->> 'name') ELSE 'anonymous' END`;
}
