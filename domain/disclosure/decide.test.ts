import { given } from '#domain/testing/given.ts';
import { recordDisclosure } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { disclosureAggregate } from './decide.ts';
import type { DisclosureEvent } from './events.ts';

const { type: _, ...data } = recordDisclosure();
const disclosed: DisclosureEvent = { type: 'DataDisclosed', data };

describe('a new disclosure', () => {
  test('is recorded', () => {
    given(disclosureAggregate).when(recordDisclosure()).thenRecords(disclosed);
  });
});

describe('a recorded disclosure', () => {
  test('is not recorded again', () => {
    given(disclosureAggregate, disclosed).when(recordDisclosure()).thenRecordsNothing();
  });
});
