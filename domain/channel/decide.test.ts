import { given } from '#domain/testing/given.ts';
import { channelId } from '#domain/testing/ids.ts';
import { createChannel } from '#domain/testing/samples.ts';
import { describe, test } from 'vitest';
import { channelAggregate } from './decide.ts';
import type { ChannelEvent } from './events.ts';

const facts = { keyExists: true, groupExists: true, inUse: false };
const { type: _, ...data } = createChannel();
const created: ChannelEvent = { type: 'ChannelCreated', data };
const id = { channelId: channelId() };
const change = { type: 'ChangeChannel', ...id, name: 'on call', enabled: false } as const;
const changed: ChannelEvent = { type: 'ChannelChanged', data: { ...id, enabled: false } };
const remove = { type: 'DeleteChannel', ...id } as const;
const deleted: ChannelEvent = { type: 'ChannelDeleted', data: id };

describe('a channel that does not exist yet', () => {
  test('can be created', () => {
    given(channelAggregate).when(createChannel(), facts).thenRecords(created);
  });

  test('cannot be created if its data key was destroyed or its group does not exist', () => {
    const lost = { ...facts, keyExists: false };
    given(channelAggregate).when(createChannel(), lost).thenRefuses('version_mismatch');
    const noGroup = { ...facts, groupExists: false };
    given(channelAggregate).when(createChannel(), noGroup).thenRefuses('validation_failed');
  });

  test.each([change, remove])('refuses %j with not_found', (command) => {
    given(channelAggregate).when(command, facts).thenRefuses('not_found');
  });
});

describe('an existing channel', () => {
  const channel = given(channelAggregate, created);

  test('records a repeated settings change only once', () => {
    channel.when(change, facts).thenRecords(changed);
    given(channelAggregate, created, changed).when(change, facts).thenRecordsNothing();
  });

  test('refuses a change based on an outdated version', () => {
    const late = { ...change, name: 'late', expectedVersion: 1 };
    given(channelAggregate, created, changed).when(late, facts).thenRefuses('version_mismatch');
  });

  test('can be deleted unless rules use it, and records only one deletion', () => {
    channel.when(remove, { ...facts, inUse: true }).thenRefuses('channel_in_use');
    channel.when(remove, facts).thenRecords(deleted);
    given(channelAggregate, created, deleted).when(remove, facts).thenRecordsNothing();
    given(channelAggregate, created, deleted).when(change, facts).thenRefuses('not_found');
  });
});
