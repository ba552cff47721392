import type { Actor } from '#domain/kernel/actor.ts';
import { sql } from 'kysely';

/** The display name of an actor: a user's email address with the name of the API token, or the name of a
 *  platform component. */
export function actorName(actor: Actor): string {
  switch (actor.kind) {
    case 'user':
      return actor.token === undefined ? actor.email : `${actor.email} (token ${actor.token.name})`;
    case 'system':
      return actor.name;
    case 'webhook':
      return `webhook ${actor.name}`;
    case 'repository':
      return `${actor.author} (commit ${actor.commit.slice(0, 10)} of ${actor.name})`;
    case 'anonymous':
      return 'anonymous';
  }
}

/** `actorName` in SQL; `event` is the alias of the event in the statement. */
export function actorNameSql(event: string) {
  const actor = sql.raw(`${event}.metadata -> 'actor'`);
  return sql`CASE ${actor} ->> 'kind' WHEN 'user' THEN (${actor} ->> 'email')
      || coalesce(' (token ' || (${actor} #>> '{token,name}') || ')', '')
    WHEN 'system' THEN ${actor} ->> 'name'
    WHEN 'repository' THEN (${actor} ->> 'author') || ' (commit ' || left(${actor} ->> 'commit', 10)
      || ' of ' || (${actor} ->> 'name') || ')'
    WHEN 'webhook' THEN 'webhook ' || (${actor} ->> 'name') ELSE 'anonymous' END`;
}
