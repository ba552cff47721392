import { given } from '#domain/testing/given.ts';
import { deliveryId } from '#domain/testing/ids.ts';
import { queueDelivery } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import type { RecordAttempt } from './commands.ts';
import { deliveryAggregate } from './decide.ts';
import { pauseAfter } from './delivery.ts';
import type { DeliveryEvent } from './events.ts';

const { type: _, ...data } = queueDelivery();
const queued: DeliveryEvent = { type: 'DeliveryQueued', data };
const id = { deliveryId: deliveryId() };
const at = '2026-01-01T00:00:00.000Z';
const failed = {
  kind: 'failed',
  error: 'It is down.',
  final: false,
  retryAfterSeconds: null,
} as const;

function attempt(result: RecordAttempt['result'], number = 1): RecordAttempt {
  return { type: 'RecordAttempt', ...id, attempt: number, at, result };
}

const delayed: DeliveryEvent = {
  type: 'DeliveryDelayed',
  data: { ...id, attempt: 1, error: 'It is down.', nextAttemptAt: '2026-01-01T00:00:05.000Z' },
};
const sent: DeliveryEvent = { type: 'DeliverySent', data: { ...id, attempt: 1 } };

test('a new delivery is queued only once', () => {
  given(deliveryAggregate).when(queueDelivery()).thenRecords(queued);
  given(deliveryAggregate, queued).when(queueDelivery()).thenRecordsNothing();
  given(deliveryAggregate).when(attempt(failed)).thenRefuses('not_found');
});

describe('a pending delivery', () => {
  test('is recorded as sent after a successful attempt, and ignores later reports', () => {
    given(deliveryAggregate, queued)
      .when(attempt({ kind: 'sent' }))
      .thenRecords(sent);
    given(deliveryAggregate, queued, sent).when(attempt(failed)).thenRecordsNothing();
  });

  test('is retried after a failed attempt, and counts a repeated report only once', () => {
    given(deliveryAggregate, queued).when(attempt(failed)).thenRecords(delayed);
    given(deliveryAggregate, queued, delayed).when(attempt(failed)).thenRecordsNothing();
  });

  test('is not retried after a permanent failure, or if it is a test notification', () => {
    const end: DeliveryEvent = {
      type: 'DeliveryFailed',
      data: { ...id, attempt: 1, error: 'It is down.' },
    };
    given(deliveryAggregate, queued)
      .when(attempt({ ...failed, final: true }))
      .thenRecords(end);
    const trial: DeliveryEvent = { type: 'DeliveryQueued', data: { ...data, ruleId: null } };
    given(deliveryAggregate, trial).when(attempt(failed)).thenRecords(end);
  });
});

test('the retry delay grows up to a limit, and is at least the delay that the receiver requested', () => {
  const pauses = (kind: 'webhook' | 'email') =>
    Array.from({ length: 12 }, (_, index) => pauseAfter(kind, index + 1, null)).filter(Boolean);
  const hours = pauses('webhook').reduce<number>((sum, pause = 0) => sum + pause / 3600, 0);
  expect(hours).toBeGreaterThan(71);
  expect(pauses('webhook')).toEqual(
    pauses('webhook').toSorted((one = 0, other = 0) => one - other),
  );
  expect(pauses('email')).toHaveLength(6);
  expect(pauseAfter('email', 1, 90)).toBe(90);
  expect(pauseAfter('email', 1, 1e9)).toBe(6 * 3600);
});
