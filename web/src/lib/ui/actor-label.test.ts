import { expect, test } from 'vitest';
import { actorLabel } from './actor-label.ts';

test.each([
  ['ada@example.com', 'ada@example.com'],
  ['reaction', 'the platform'],
  ['runtime', 'the runtime'],
  ['webhook Shop', 'the webhook “Shop”'],
])('the actor %s is labeled %s', (actor, label) => {
  expect(actorLabel(actor)).toBe(label);
});
