import type { Recorded } from '#domain/aggregates.ts';
import type { RunFinished } from '#domain/run/events.ts';
import { channelId, deliveryId, groupId, ruleId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { finishRun, postNotice, runScript } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import type { ListeningRule } from './reaction.ts';
import { whenSomethingHappenedDeliver } from './when-something-happened-deliver.ts';

const rule: ListeningRule = {
  ruleId: ruleId(),
  on: ['failed'],
  failedTimes: 3,
  channels: [{ channelId: channelId(), kind: 'webhook' }],
};

async function ending(outcome: RunFinished['data']['outcome']): Promise<Recorded> {
  const start = { type: 'StartRun', runId: runId(), runtimeId: 'a', layers: [] } as const;
  const events = await recordAll([
    ...beginning,
    runScript(),
    start,
    finishRun({ outcome, exitCode: 1 }),
  ]);
  return events.at(-1)!;
}

async function reactTo(
  event: Recorded,
  rules: readonly ListeningRule[],
  before: readonly ('success' | 'failed')[] = [],
) {
  const reads = reactionReads({
    listeners: (_script, then) => {
      expect(then).toEqual(event.recordedAt);
      return Promise.resolve({ scriptName: 'Report', groupId: groupId(), rules });
    },
    endingsBefore: (_script, _run, limit) => Promise.resolve(before.slice(0, limit)),
  });
  const newId = (name: string) => {
    expect(name).toBe(`${ruleId()} ${channelId()}`);
    return deliveryId();
  };
  return await whenSomethingHappenedDeliver.react(event, reads, newId);
}

test('a rule for failures delivers a failed run to each of its channels', async () => {
  const event = await ending('exit_code');
  expect(await reactTo(event, [rule])).toEqual([
    {
      type: 'QueueDelivery',
      deliveryId: deliveryId(),
      channelId: channelId(),
      kind: 'webhook',
      ruleId: ruleId(),
      told: {
        on: 'failed',
        level: 'error',
        message: 'The run failed with exit code 1.',
        at: at(event.position.globalPosition).toISOString(),
        script: { scriptId: scriptId(), name: 'Report', groupId: groupId() },
        runId: runId(),
      },
    },
  ]);
  expect(await reactTo(await ending('success'), [rule])).toEqual([]);
});

describe('rules for several events', () => {
  const on = (...happenings: ListeningRule['on']) => [{ ...rule, on: happenings }];
  const F = 'failed';
  const S = 'success';

  test.each([
    ['success', on('success', 'recovered'), [F], ['recovered']],
    ['success', on('success', 'recovered'), [S, F], ['success']],
    ['success', on('recovered'), [], []],
    ['stopped', on('stopped', 'failed'), [], ['stopped']],
    ['timeout', on('failed_n_times'), [F, F, S], ['failed_n_times']],
    ['timeout', on('failed_n_times'), [F, F], ['failed_n_times']],
    ['timeout', on('failed_n_times'), [F, S, F], []],
    ['timeout', on('failed_n_times'), [F, F, F], []],
    ['timeout', on('failed_n_times', 'failed'), [F, F, F], ['failed']],
  ] as const)(
    'deliver the outcome %s, with rules for %j after %j, as %j',
    async (outcome, rules, before, told) => {
      const commands = await reactTo(await ending(outcome), rules, before);
      expect(commands).toMatchObject(told.map((one) => ({ told: { on: one } })));
      expect(commands).toHaveLength(told.length);
    },
  );

  test('deliver messages of a script, but not notices of the platform', async () => {
    const said = (await recordAll([...beginning, postNotice({ message: 'Look.' })])).at(-1)!;
    expect(await reactTo(said, on('message'))).toMatchObject([{ told: { message: 'Look.' } }]);
    const posted = (await recordAll([...beginning, postNotice({ on: 'failed' })])).at(-1)!;
    expect(await reactTo(posted, on('message', 'failed'))).toEqual([]);
  });
});

describe('an alarm of the platform', () => {
  const raised = { type: 'AlarmRaised', data: { name: 'disk_low', detail: 'No room.' } } as const;
  const cleared = { type: 'AlarmCleared', data: { name: 'disk_low' } } as const;

  async function tell(alarm: typeof raised | typeof cleared, rules: readonly ListeningRule[]) {
    const event = { ...(await ending('success')), ...alarm } as Recorded;
    const reads = reactionReads({ platformListeners: () => Promise.resolve(rules) });
    const commands = await whenSomethingHappenedDeliver.react(event, reads, () => deliveryId());
    return commands.map((one) => one.type === 'QueueDelivery' && one.told);
  }
  const listens: ListeningRule = { ...rule, on: ['alarm', 'alarm_cleared'] };

  test('is delivered to its rules when raised and when cleared', async () => {
    expect(await tell(raised, [listens])).toMatchObject([
      { on: 'alarm', level: 'warning', message: 'No room.', script: null },
    ]);
    expect(await tell(cleared, [listens])).toMatchObject([
      { on: 'alarm_cleared', level: 'info', message: 'Disk space is sufficient again.' },
    ]);
  });

  test('is not delivered without rules, or to an inbox', async () => {
    const inbox = { ...listens, channels: [{ channelId: channelId(), kind: 'in_app' }] } as const;
    expect(await tell(raised, [rule, inbox])).toEqual([]);
  });
});
