import { given } from '#domain/testing/given.ts';
import { describe, test } from 'vitest';
import { systemAggregate } from './decide.ts';

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
