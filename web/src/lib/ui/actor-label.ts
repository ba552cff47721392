const platformActorLabels: Record<string, string> = {
  reaction: 'the platform',
  scheduler: 'the scheduler',
  runtime: 'the runtime',
  queue: 'a Redis client',
};

/** Returns the label of an actor: a user's email address, or the name of a component or webhook. */
export function actorLabel(actor: string): string {
  const webhook = /^webhook (.+)$/s.exec(actor)?.[1];
  if (webhook !== undefined) return `the webhook “${webhook}”`;
  return platformActorLabels[actor] ?? actor;
}
