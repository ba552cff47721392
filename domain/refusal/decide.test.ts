import { given } from '#domain/testing/given.ts';
import { recordRefusal } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { refusalAggregate } from './decide.ts';
import type { RefusalEvent } from './events.ts';

const { type: _, ...data } = recordRefusal();
const refused: RefusalEvent = { type: 'RequestRefused', data };

describe('a new refusal', () => {
  test('is recorded', () => {
    given(refusalAggregate).when(recordRefusal()).thenRecords(refused);
  });
});

describe('a recorded refusal', () => {
  test('is not recorded again', () => {
    given(refusalAggregate, refused)
      .when(recordRefusal({ count: 2 }))
      .thenRecordsNothing();
  });
});
