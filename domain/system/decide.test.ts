import { given } from '#domain/testing/given.ts';
import { describe, test } from 'vitest';
import type { ChangeRetention } from './commands.ts';
import { systemAggregate } from './decide.ts';
import { keepEverything, maxRetentionDays, type Retention } from './retention.ts';

const pause = { type: 'PauseTriggers' } as const;
const resume = { type: 'ResumeTriggers' } as const;
const paused = { type: 'TriggersPaused', data: {} } as const;
const resumed = { type: 'TriggersResumed', data: {} } as const;

describe('given triggers that are on', () => {
  test('when they are paused, then that is recorded; to resume them changes nothing', () => {
    given(systemAggregate).when(pause).thenRecords(paused);
    given(systemAggregate).when(resume).thenRecordsNothing();
    given(systemAggregate, paused, resumed).when(pause).thenRecords(paused);
  });
});

describe('given triggers that are paused', () => {
  test('when they are resumed, then that is recorded; to pause them changes nothing', () => {
    given(systemAggregate, paused).when(resume).thenRecords(resumed);
    given(systemAggregate, paused).when(pause).thenRecordsNothing();
  });
});

describe('given that everything is kept', () => {
  const change = (changes: ChangeRetention['changes']) =>
    ({ type: 'ChangeRetention', changes }) as const;
  const changed = (changes: Partial<Retention>) =>
    ({ type: 'RetentionChanged', data: { ...keepEverything, ...changes } }) as const;

  test('when logs are to be kept for 30 days, then the whole setting is recorded', () => {
    given(systemAggregate)
      .when(change({ logsDays: 30 }))
      .thenRecords(changed({ logsDays: 30 }));
  });

  test('when more is set later, then what is not named stays', () => {
    given(systemAggregate, changed({ logsDays: 30, samplesDays: 7 }))
      .when(change({ payloadsDays: 1, samplesDays: null }))
      .thenRecords(changed({ logsDays: 30, payloadsDays: 1 }));
  });

  test('when it is what it was, then nothing is recorded', () => {
    given(systemAggregate)
      .when(change({ logsDays: null }))
      .thenRecordsNothing();
    given(systemAggregate, changed({ logsDays: 30 }))
      .when(change({}))
      .thenRecordsNothing();
  });

  test.each([0, -1, 1.5, maxRetentionDays + 1])('when days are %d, then it is refused', (days) => {
    given(systemAggregate)
      .when(change({ artifactsDays: days }))
      .thenRefuses('validation_failed');
  });
});
