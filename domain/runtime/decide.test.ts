import { given } from '#domain/testing/given.ts';
import { test } from 'vitest';
import { runtimeAggregate } from './decide.ts';

const id = { runtimeId: 'runtime-1' };
const drain = { type: 'DrainRuntime', ...id } as const;
const resume = { type: 'ResumeRuntime', ...id } as const;
const drained = { type: 'RuntimeDrained', data: id } as const;
const resumed = { type: 'RuntimeResumed', data: id } as const;

test('an active runtime records only one drain, and nothing when it is resumed', () => {
  given(runtimeAggregate).when(drain).thenRecords(drained);
  given(runtimeAggregate).when(resume).thenRecordsNothing();
  given(runtimeAggregate, drained).when(drain).thenRecordsNothing();
});

test('a drained runtime records only one resumption, and can be drained again', () => {
  given(runtimeAggregate, drained).when(resume).thenRecords(resumed);
  given(runtimeAggregate, drained, resumed).when(resume).thenRecordsNothing();
  given(runtimeAggregate, drained, resumed).when(drain).thenRecords(drained);
});
