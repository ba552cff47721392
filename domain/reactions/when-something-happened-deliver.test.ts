import type { Recorded } from '#domain/aggregates.ts';
import type { RunId } from '#domain/kernel/ids.ts';
import type { RunFinished } from '#domain/run/events.ts';
import {
  channelId,
  deliveryId,
  errorGroupId,
  groupId,
  repositoryId,
  ruleId,
  runId,
  scriptId,
} from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { reactionReads } from '#domain/testing/reads.ts';
import { finishRun, postNotice, runScript } from '#domain/testing/samples.ts';
import { describe, expect, test } from 'vitest';
import type { ListeningRule, RunErrorGroup } from './reaction.ts';
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
  occurrences = 0,
  errorGroup?: RunErrorGroup,
) {
  const reads = reactionReads({
    listeners: (_script, then) => {
      expect(then).toEqual(event.recordedAt);
      return Promise.resolve({ scriptName: 'Report', groupId: groupId(), rules });
    },
    errorGroupOf: () => Promise.resolve(errorGroup),
    errorOccurrences: (_run, most) => Promise.resolve(Math.min(occurrences, most)),
    scriptOfRun: () => Promise.resolve(scriptId()),
    endingsBefore: (_script, _run, limit) => Promise.resolve(before.slice(0, limit)),
  });
  const newId = (name: string) => {
    expect(name).toBe(`${ruleId()} ${channelId()}`);
    return deliveryId();
  };
  return await whenSomethingHappenedDeliver.react(event, reads, newId);
}

test('a rule for failures notifies each of its channels about a failed run', async () => {
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
        about: `runs ${scriptId()}`,
      },
    },
  ]);
  expect(await reactTo(await ending('success'), [rule])).toEqual([]);
});

test.each([true, false])(
  'a failure causes a notification unless its error is ignored (ignored: %s)',
  async (isIgnored) => {
    const event = await ending('exit_code');
    const error = { type: 'ValueError', source: 'log', fingerprint: '', sha256: '' } as const;
    const failure = { ...event, data: { ...event.data, error } } as Recorded;
    const selected = { ...rule, on: ['failed', 'failed_n_times'] } as const;
    const group = { errorGroupId: errorGroupId(), isIgnored };
    const commands = await reactTo(failure, [selected], ['failed', 'failed'], 1, group);
    expect(commands).toMatchObject(isIgnored ? [] : [{ told: { on: 'failed_n_times' } }]);
    expect(commands).toHaveLength(isIgnored ? 0 : 1);
  },
);

test.each([
  ['ExpectationMissed', { detail: 'Late.' }, 'warning', 'Late.'],
  ['ExpectationCleared', { reason: 'met' }, 'info', 'A run succeeded after its deadline.'],
] as const)(
  'a rule for late runs sends a notification about %s',
  async (type, change, level, message) => {
    const [any] = await recordAll(beginning);
    const about = { scriptId: scriptId(), on: 'run_late', key: 'finish_by', runId: null };
    const event = { ...any, type, data: { ...about, ...change } } as Recorded;
    expect(await reactTo(event, [{ ...rule, on: ['run_late'] }])).toMatchObject([
      { told: { on: 'run_late', level, message, runId: null, about: `finish_by ${scriptId()}` } },
    ]);
    expect(await reactTo(event, [{ ...rule, on: ['script_stale'] }])).toEqual([]);
  },
);

test.each([
  ['failed', 'does not clear', undefined],
  ['success', 'clears', true],
] as const)(
  'a notification about the outcome %s %s the failure condition of the script',
  async (on, _verb, clears) => {
    const event = await ending(on === 'failed' ? 'exit_code' : on);
    const [delivery] = await reactTo(event, [{ ...rule, on: [on] }]);
    expect(delivery).toMatchObject({ told: { about: `runs ${scriptId()}` } });
    expect(delivery?.type === 'QueueDelivery' && delivery.told.clears).toBe(clears);
  },
);

describe('rules for several events', () => {
  const on = (...notifiableEvents: ListeningRule['on']) => [{ ...rule, on: notifiableEvents }];
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
    'after the outcomes $2 (newest first), turn the outcome $0 into notifications for $3',
    async (outcome, rules, before, told) => {
      const commands = await reactTo(await ending(outcome), rules, before);
      expect(commands).toMatchObject(told.map((one) => ({ told: { on: one } })));
      expect(commands).toHaveLength(told.length);
    },
  );

  test.each([
    [1, on('error_first_seen', 'failed'), ['error_first_seen']],
    [2, on('error_first_seen', 'failed'), ['failed']],
    [10, on('error_first_seen', 'error_tenth_seen'), ['error_tenth_seen']],
    [11, on('error_tenth_seen'), []],
    [0, on('error_first_seen', 'error_tenth_seen'), []],
  ] as const)(
    'turn occurrence $0 of an error into notifications for $2',
    async (count, rules, told) => {
      const commands = await reactTo(await ending('exit_code'), rules, [], count);
      expect(commands).toMatchObject(told.map((one) => ({ told: { on: one } })));
      expect(commands).toHaveLength(told.length);
    },
  );

  test('report a resolved error that recurs, but not an error group that a user reopens', async () => {
    const event = await ending('exit_code');
    const reopened = (id: RunId | null) =>
      ({
        ...event,
        type: 'ErrorGroupReopened',
        data: { errorGroupId: errorGroupId(), runId: id },
      }) as Recorded;
    expect(await reactTo(reopened(runId()), on('error_reopened', 'failed'))).toMatchObject([
      { told: { on: 'error_reopened', runId: runId(), script: { name: 'Report' } } },
    ]);
    expect(await reactTo(reopened(null), on('error_reopened'))).toEqual([]);
    expect(await reactTo(reopened(runId()), on('failed'))).toEqual([]);
  });

  test('report messages from scripts, but not notices from the platform', async () => {
    const said = (await recordAll([...beginning, postNotice({ message: 'Look.' })])).at(-1)!;
    expect(await reactTo(said, on('message'))).toMatchObject([{ told: { message: 'Look.' } }]);
    const posted = (await recordAll([...beginning, postNotice({ on: 'failed' })])).at(-1)!;
    expect(await reactTo(posted, on('message', 'failed'))).toEqual([]);
  });
});

describe('a secret that is due for rotation', () => {
  const value = {
    name: 'TOKEN',
    version: 1,
    ownerName: 'Report',
    dueAt: '2026-04-01T00:00:00.000Z',
  };
  const listens: ListeningRule = { ...rule, on: ['secret_rotation_due'] };

  test('triggers the rules of its script when it becomes due and when it has a new value', async () => {
    const data = { scriptId: scriptId(), groupId: null, ...value };
    const event = await ending('success');
    const due = { ...event, type: 'SecretRotationDue', data } as Recorded;
    const about = `rotation ${scriptId()} TOKEN`;
    expect(await reactTo(due, [rule, listens])).toMatchObject([
      { told: { on: 'secret_rotation_due', level: 'warning', about } },
    ]);
    const replaced = { ...data, reason: 'replaced' };
    const cleared = { ...event, type: 'SecretRotationCleared', data: replaced } as Recorded;
    expect(await reactTo(cleared, [listens])).toMatchObject([
      { told: { level: 'info', about, clears: true } },
    ]);
  });

  test('triggers the rules of its group', async () => {
    const data = { scriptId: null, groupId: groupId(), ...value };
    const due = { ...(await ending('success')), type: 'SecretRotationDue', data } as Recorded;
    const groupListeners = () => Promise.resolve([rule, listens]);
    const reads = reactionReads({ groupListeners });
    expect(await whenSomethingHappenedDeliver.react(due, reads, () => deliveryId())).toMatchObject([
      { told: { on: 'secret_rotation_due', script: null, groupId: groupId() } },
    ]);
  });
});

describe('a repository that cannot be synced', () => {
  test('triggers the rules that select it when syncs start to fail and when they succeed again', async () => {
    const event = await ending('success');
    const data = { repositoryId: repositoryId(), name: 'Jobs' };
    const listens: ListeningRule = { ...rule, on: ['repository_sync_failed'] };
    const reads = reactionReads({ platformListeners: () => Promise.resolve([rule, listens]) });
    const tell = async (change: object) =>
      await whenSomethingHappenedDeliver.react({ ...event, ...change } as Recorded, reads, () =>
        deliveryId(),
      );
    const failing = { ...data, problem: 'No access.' };
    const about = `repository ${repositoryId()}`;
    expect(await tell({ type: 'RepositoryFailureStarted', data: failing })).toMatchObject([
      { told: { on: 'repository_sync_failed', level: 'error', about, script: null } },
    ]);
    const synced = { ...data, reason: 'synced' };
    expect(await tell({ type: 'RepositoryFailureEnded', data: synced })).toMatchObject([
      { told: { level: 'info', about, clears: true } },
    ]);
  });
});

describe('a platform alarm', () => {
  const raised = { type: 'AlarmRaised', data: { name: 'disk_low', detail: 'No room.' } } as const;
  const cleared = { type: 'AlarmCleared', data: { name: 'disk_low' } } as const;

  async function tell(alarm: typeof raised | typeof cleared, rules: readonly ListeningRule[]) {
    const event = { ...(await ending('success')), ...alarm } as Recorded;
    const reads = reactionReads({ platformListeners: () => Promise.resolve(rules) });
    const commands = await whenSomethingHappenedDeliver.react(event, reads, () => deliveryId());
    return commands.map((one) => one.type === 'QueueDelivery' && one.told);
  }
  const listens: ListeningRule = { ...rule, on: ['alarm', 'alarm_cleared'] };

  test('triggers the rules that select it when it is raised and when it is cleared', async () => {
    expect(await tell(raised, [listens])).toMatchObject([
      { on: 'alarm', level: 'warning', message: 'No room.', script: null },
    ]);
    expect(await tell(cleared, [listens])).toMatchObject([
      { on: 'alarm_cleared', level: 'info', message: 'Disk space is sufficient again.' },
    ]);
  });

  test('causes no notification if no rule selects it, and never notifies in-app channels', async () => {
    const inbox = { ...listens, channels: [{ channelId: channelId(), kind: 'in_app' }] } as const;
    expect(await tell(raised, [rule, inbox])).toEqual([]);
  });
});
