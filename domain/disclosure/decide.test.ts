import { given } from '#domain/testing/given.ts';
import { recordDisclosure } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { disclosureAggregate } from './decide.ts';
import type { DisclosureEvent } from './events.ts';

const { type: _, ...data } = recordDisclosure();
const disclosed: DisclosureEvent = { type: 'DataDisclosed', data };

describe('given nothing', () => {
  test('when data is about to be sent, then that is recorded', () => {
    given(disclosureAggregate).when(recordDisclosure()).thenRecords(disclosed);
  });
});

describe('given a recorded disclosure', () => {
  test('when it is recorded again, then nothing is', () => {
    given(disclosureAggregate, disclosed).when(recordDisclosure()).thenRecordsNothing();
  });
});
