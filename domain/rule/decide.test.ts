import { given } from '#domain/testing/given.ts';
import { ruleId } from '#domain/testing/ids.ts';
import { createRule } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { ruleAggregate } from './decide.ts';
import type { RuleEvent } from './events.ts';

const all = { missing: undefined };
const { type: _, ...data } = createRule();
const created: RuleEvent = { type: 'RuleCreated', data };
const id = { ruleId: ruleId() };
const change = { type: 'ChangeRule', ...id, changes: { on: ['success'] } } as const;
const changed: RuleEvent = {
  type: 'RuleChanged',
  data: { ...id, settings: { ...data.settings, on: ['success'] } },
};
const remove = { type: 'DeleteRule', ...id } as const;
const deleted: RuleEvent = { type: 'RuleDeleted', data: id };

describe('a rule that does not exist yet', () => {
  test('can be created', () => {
    given(ruleAggregate).when(createRule(), all).thenRecords(created);
  });

  test('cannot be created if it refers to a resource that does not exist', () => {
    const missing = { missing: 'Channel 7 not found.' };
    given(ruleAggregate).when(createRule(), missing).thenRefuses('validation_failed');
  });

  test.each([change, remove])('refuses %j with not_found', (command) => {
    given(ruleAggregate).when(command, all).thenRefuses('not_found');
  });
});

describe('an existing rule', () => {
  test('records the complete rule after each actual change', () => {
    given(ruleAggregate, created).when(change, all).thenRecords(changed);
    given(ruleAggregate, created, changed).when(change, all).thenRecordsNothing();
    const missing = { missing: 'Group 7 not found.' };
    given(ruleAggregate, created).when(change, missing).thenRefuses('validation_failed');
  });

  test('records only one deletion', () => {
    given(ruleAggregate, created).when(remove, all).thenRecords(deleted);
    given(ruleAggregate, created, deleted).when(remove, all).thenRecordsNothing();
    given(ruleAggregate, created, deleted).when(change, all).thenRefuses('not_found');
  });
});
