import { given } from '#domain/testing/given.ts';
import { describe, test } from 'vitest';
import type { ChangeRetention } from './commands.ts';
import { systemAggregate } from './decide.ts';
import { keepEverything, maxRetentionDays, type Retention } from './retention.ts';

const pause = { type: 'PauseTriggers' } as const;
const resume = { type: 'ResumeTriggers' } as const;
const paused = { type: 'TriggersPaused', data: {} } as const;
const resumed = { type: 'TriggersResumed', data: {} } as const;

describe('active triggers', () => {
  test('can be paused, and record nothing when resumed', () => {
    given(systemAggregate).when(pause).thenRecords(paused);
    given(systemAggregate).when(resume).thenRecordsNothing();
    given(systemAggregate, paused, resumed).when(pause).thenRecords(paused);
  });
});

describe('paused triggers', () => {
  test('can be resumed, and record nothing when paused again', () => {
    given(systemAggregate, paused).when(resume).thenRecords(resumed);
    given(systemAggregate, paused).when(pause).thenRecordsNothing();
  });
});

describe('the retention setting', () => {
  const change = (changes: ChangeRetention['changes']) =>
    ({ type: 'ChangeRetention', changes }) as const;
  const changed = (changes: Partial<Retention>) =>
    ({ type: 'RetentionChanged', data: { ...keepEverything, ...changes } }) as const;

  test('is recorded completely after a change', () => {
    given(systemAggregate)
      .when(change({ logsDays: 30 }))
      .thenRecords(changed({ logsDays: 30 }));
  });

  test('keeps the periods that a change omits', () => {
    given(systemAggregate, changed({ logsDays: 30, samplesDays: 7 }))
      .when(change({ payloadsDays: 1, samplesDays: null }))
      .thenRecords(changed({ logsDays: 30, payloadsDays: 1 }));
  });

  test('is not recorded if it does not change', () => {
    given(systemAggregate)
      .when(change({ logsDays: null }))
      .thenRecordsNothing();
    given(systemAggregate, changed({ logsDays: 30 }))
      .when(change({}))
      .thenRecordsNothing();
  });

  test.each([0, -1, 1.5, maxRetentionDays + 1])('refuses a period of %d days', (days) => {
    given(systemAggregate)
      .when(change({ artifactsDays: days }))
      .thenRefuses('validation_failed');
  });
});
