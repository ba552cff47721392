import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import { newNameProblem } from '#domain/kernel/names.ts';
import type { ChangeChannel, ChannelCommand } from './commands.ts';
import type { ChannelEvent } from './events.ts';
import { evolveChannel, initialChannel, type ChannelState } from './state.ts';

export interface ChannelFacts {
  /** Whether the data key of the channel's secrets still exists. True if the channel has no secrets. */
  readonly keyExists: boolean;
  readonly groupExists: boolean;
  /** Whether notification rules use the channel. */
  readonly inUse: boolean;
}

export function decideChannel(
  state: ChannelState,
  command: ChannelCommand,
  facts: ChannelFacts,
): Decision<ChannelEvent> {
  const isThere = state.status === 'there';
  switch (command.type) {
    case 'CreateChannel': {
      if (state.status !== 'absent') return accept();
      const { type: _, ...data } = command;
      const unusable = newNameProblem('name', command.name);
      if (unusable !== undefined) return refuse('validation_failed', unusable);
      return problemOf(facts) ?? accept({ type: 'ChannelCreated', data });
    }
    case 'ChangeChannel':
      return isThere ? change(state, command, facts) : unknown;
    case 'DeleteChannel': {
      const { channelId } = command;
      if (state.status === 'deleted') return accept();
      if (!isThere) return unknown;
      if (facts.inUse)
        return refuse(
          'channel_in_use',
          'Notification rules still use this channel. Change the rules first.',
        );
      return accept({ type: 'ChannelDeleted', data: { channelId } });
    }
  }
}

const unknown = refuse('not_found', 'Channel not found.');

function problemOf({ keyExists, groupExists }: ChannelFacts): Decision<never> | undefined {
  if (!groupExists) return refuse('validation_failed', 'Group not found.');
  return keyExists
    ? undefined
    : refuse(
        'version_mismatch',
        'The channel has changed since you read it. Reload it and try again.',
      );
}

function change(
  state: Extract<ChannelState, { status: 'there' }>,
  command: ChangeChannel,
  facts: ChannelFacts,
): Decision<ChannelEvent> {
  const { type: _, channelId, expectedVersion, ...wanted } = command;
  const present: Record<string, unknown> = { ...state.settings, sealed: state.sealed };
  const changes = Object.entries(wanted).filter(([name, value]) => {
    return value !== undefined && !isSameJson(value, present[name]);
  });
  if (changes.length === 0) return accept();
  if (expectedVersion !== undefined && expectedVersion !== state.version) {
    return refuse(
      'version_mismatch',
      'The channel has changed since you read it. Reload it and try again.',
    );
  }
  const unusable = newNameProblem('name', command.name, state.settings.name);
  if (unusable !== undefined) return refuse('validation_failed', unusable);
  const data = { channelId, ...Object.fromEntries(changes) };
  return problemOf(facts) ?? accept({ type: 'ChannelChanged', data });
}

export const channelAggregate: Aggregate<ChannelState, ChannelCommand, ChannelEvent, ChannelFacts> =
  {
    streamType: 'channel',
    commands: { CreateChannel: true, ChangeChannel: true, DeleteChannel: true },
    events: { ChannelCreated: true, ChannelChanged: true, ChannelDeleted: true },
    initial: initialChannel,
    evolve: evolveChannel,
    stateVersion: 1,
    decide: decideChannel,
    streamOf: (command) => `channel-${command.channelId}`,
    // The command that destroys the data key takes the same guard.
    guards: (command) => [`secret-${command.channelId}`],
    readFacts: async (command, reads) => {
      if (command.type === 'DeleteChannel') {
        const inUse = await reads.channelInUse(command.channelId);
        return { keyExists: true, groupExists: true, inUse };
      }
      const { sealed, config } = command;
      const groupId = config?.kind === 'in_app' ? config.groupId : null;
      return {
        keyExists: !sealed || (await reads.dataKeyExists(sealed.keyId)),
        groupExists: groupId === null || (await reads.groupExists(groupId)),
        inUse: false,
      };
    },
  };
