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

describe('given no channel', () => {
  test('when one is made, then it is there', () => {
    given(channelAggregate).when(createChannel(), facts).thenRecords(created);
  });

  test('when its key is gone or its group is not there, then it is refused', () => {
    const lost = { ...facts, keyExists: false };
    given(channelAggregate).when(createChannel(), lost).thenRefuses('version_mismatch');
    const nobody = { ...facts, groupExists: false };
    given(channelAggregate).when(createChannel(), nobody).thenRefuses('validation_failed');
  });

  test.each([change, remove])('when it gets %j, then there is none', (command) => {
    given(channelAggregate).when(command, facts).thenRefuses('not_found');
  });
});

describe('given a channel', () => {
  const channel = given(channelAggregate, created);

  test('when it is changed, then what differs is recorded, once', () => {
    channel.when(change, facts).thenRecords(changed);
    given(channelAggregate, created, changed).when(change, facts).thenRecordsNothing();
  });

  test('when somebody else was first, then it is refused', () => {
    const late = { ...change, name: 'late', expectedVersion: 1 };
    given(channelAggregate, created, changed).when(late, facts).thenRefuses('version_mismatch');
  });

  test('when rules lead to it, then it stays; otherwise it goes, once', () => {
    channel.when(remove, { ...facts, inUse: true }).thenRefuses('channel_in_use');
    channel.when(remove, facts).thenRecords(deleted);
    given(channelAggregate, created, deleted).when(remove, facts).thenRecordsNothing();
    given(channelAggregate, created, deleted).when(change, facts).thenRefuses('not_found');
  });
});
