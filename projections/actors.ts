import type { Actor } from '#domain/kernel/actor.ts';
import { sql } from 'kysely';

/** Returns the display name of an actor. For a user, this is the email address with the name of any API token. For
 *  the platform, it is the name of the component. */
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

/** Computes `actorName` in SQL. @param event the alias of the event in the statement */
export function actorNameSql(event: string) {
  const actor = sql.raw(`${event}.metadata -> 'actor'`);
  return sql`CASE ${actor} ->> 'kind' WHEN 'user' THEN (${actor} ->> 'email')
      || coalesce(' (token ' || (${actor} #>> '{token,name}') || ')', '')
    WHEN 'system' THEN ${actor} ->> 'name'
    WHEN 'repository' THEN (${actor} ->> 'author') || ' (commit ' || left(${actor} ->> 'commit', 10)
      || ' of ' || (${actor} ->> 'name') || ')'
    WHEN 'webhook' THEN 'webhook ' || (${actor} ->> 'name') ELSE 'anonymous' END`;
}
