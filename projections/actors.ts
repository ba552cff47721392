import type { Actor } from '#domain/kernel/actor.ts';

/** How an actor is shown in lists: the e-mail address of a person, the name of a part. */
export function actorName(actor: Actor): string {
  switch (actor.kind) {
    case 'user':
      return actor.email;
    case 'system':
      return actor.name;
    case 'anonymous':
      return 'anonymous';
  }
}
