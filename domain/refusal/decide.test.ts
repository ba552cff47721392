import { given } from '#domain/testing/given.ts';
import { recordRefusal } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { refusalAggregate } from './decide.ts';
import type { RefusalEvent } from './events.ts';

const { type: _, ...data } = recordRefusal();
const refused: RefusalEvent = { type: 'RequestRefused', data };

describe('given nothing', () => {
  test('when a refusal is to be recorded, then it is', () => {
    given(refusalAggregate).when(recordRefusal()).thenRecords(refused);
  });
});

describe('given a recorded refusal', () => {
  test('when it is recorded again, then nothing is', () => {
    given(refusalAggregate, refused)
      .when(recordRefusal({ count: 2 }))
      .thenRecordsNothing();
  });
});
