import type { Actor } from '#domain/kernel/actor.ts';
import { tokenId, userId, webhookId } from '#domain/testing/ids.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actorName, actorNameSql } from './actors.ts';
import { openTestReads, type TestReads } from './testing/delivery.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const ada = { kind: 'user', userId: userId(), email: 'ada@example.com' } as const;
const actors: readonly (readonly [Actor, string])[] = [
  [ada, 'ada@example.com'],
  [{ ...ada, token: { tokenId: tokenId(), name: 'deploy' } }, 'ada@example.com (token deploy)'],
  [{ kind: 'system', name: 'scheduler' }, 'scheduler'],
  [{ kind: 'webhook', webhookId: webhookId(), name: 'push' }, 'webhook push'],
  [{ kind: 'anonymous' }, 'anonymous'],
];

test.each(actors)('the actor %j is shown as %s in both TypeScript and SQL', async (actor, name) => {
  expect(actorName(actor)).toBe(name);
  const event = JSON.stringify({ actor });
  const { rows } = await sql<{ name: string }>`SELECT ${actorNameSql('e')} AS name
    FROM (SELECT ${event}::jsonb AS metadata) e`.execute(reads.db);
  expect(rows).toEqual([{ name }]);
});
