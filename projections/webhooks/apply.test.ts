import type { Command } from '#domain/aggregates.ts';
import { groupId, scriptId, webhookId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createScript, createWebhook, webhookSigning } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { scriptsProjection } from '../scripts/apply.ts';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { webhooksProjection } from './apply.ts';
import { findCalledWebhook, findWebhook, listWebhooks } from './queries.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const id = { webhookId: webhookId() };
const change: Command = {
  type: 'ChangeWebhook',
  ...id,
  changes: { name: 'other', enabled: false },
};
const rotate: Command = { type: 'RotateWebhook', ...id, tokenHash: 'b'.repeat(64) };
const remove: Command = { type: 'DeleteWebhook', ...id };

const created = {
  webhook_id: webhookId(),
  stream_version: 1,
  script_id: scriptId(),
  name: 'push',
  enabled: true,
  when_busy: 'refuse',
  rate_limit_per_minute: 60,
  token_hash: 'a'.repeat(64),
  signing: null,
  signing_version: 0,
  created_at: at(4),
  deleted: false,
};

test('the row of a webhook is updated when the webhook is changed, rotated and deleted', async () => {
  const row = async (...commands: readonly Command[]) => {
    const events = await recordAll([...beginning, createWebhook(), ...commands]);
    const { webhooks } = await rowsAfter(reads.db, [webhooksProjection], [events]);
    return webhooks?.[0];
  };
  expect(await row()).toEqual(created);
  const changed = { ...created, name: 'other', enabled: false, stream_version: 2 };
  expect(await row(change)).toEqual(changed);
  const rotated = { ...changed, token_hash: 'b'.repeat(64), stream_version: 3 };
  expect(await row(change, rotate)).toEqual(rotated);
  const sign: Command = {
    type: 'ChangeWebhook',
    ...id,
    changes: {},
    signing: webhookSigning(),
  };
  const signed = { signing: webhookSigning(), signing_version: 1 };
  expect(await row(sign)).toMatchObject(signed);
  expect(await row(sign, { ...sign, signing: null })).toMatchObject({ ...signed, signing: null });
  expect(await row(change, rotate, remove)).toEqual({
    ...rotated,
    deleted: true,
    stream_version: 4,
  });
});

describe('webhooks of existing and deleted scripts', () => {
  const hash = (letter: string) => letter.repeat(64);
  beforeAll(async () => {
    const events = await recordAll([
      ...beginning,
      createScript({ scriptId: scriptId(2), groupId: groupId(2) }),
      createScript({ scriptId: scriptId(3) }),
      createWebhook(),
      createWebhook({ webhookId: webhookId(2), scriptId: scriptId(2), tokenHash: hash('b') }),
      createWebhook({ webhookId: webhookId(3), scriptId: scriptId(3), tokenHash: hash('c') }),
      createWebhook({ webhookId: webhookId(4), tokenHash: hash('d') }),
      { type: 'DeleteScript', scriptId: scriptId(3) },
      { type: 'DeleteWebhook', webhookId: webhookId(4) },
    ]);
    await applyAll([scriptsProjection, webhooksProjection], reads.db, events);
  });

  test('can be filtered by group or script, and are listed newest first', async () => {
    const listed = async (filter: Partial<Parameters<typeof listWebhooks>[1]>, after?: number) => {
      const all = { groupIds: null, scriptId: null, ...filter };
      const from = after === undefined ? undefined : webhookId(after);
      return (await listWebhooks(reads.db, all, from, 9)).map((one) => one.webhook_id);
    };
    expect(await listed({})).toEqual([webhookId(2), webhookId(1)]);
    expect(await listed({}, 2)).toEqual([webhookId(1)]);
    expect(await listed({ groupIds: [groupId(2)] })).toEqual([webhookId(2)]);
    expect(await listed({ scriptId: scriptId() })).toEqual([webhookId(1)]);
  });

  test('are not found after their deletion, even by incoming requests', async () => {
    const found = async (number: number) => await findWebhook(reads.db, webhookId(number));
    const called = async (letter: string) => await findCalledWebhook(reads.db, hash(letter));
    expect(await found(1)).toMatchObject({ group_id: groupId(), last_called_at: null });
    expect(await called('a')).toMatchObject({ webhook_id: webhookId(1), paused: false });
    for (const gone of [3, 4, 5]) expect(await found(gone)).toBeUndefined();
    for (const gone of ['c', 'd', 'e']) expect(await called(gone)).toBeUndefined();
  });
});
