import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, type Decision } from '#domain/kernel/decision.ts';
import type { RotationCommand } from './commands.ts';
import type { RotationEvent } from './events.ts';
import { valueKey, type RotationOwner } from './rotation.ts';
import { evolveRotations, initialRotations, type RotationState } from './state.ts';

export function decideRotations(
  state: RotationState,
  command: RotationCommand,
): Decision<RotationEvent> {
  const { due, present, seen } = command;
  if (seen !== state.events) return accept();
  const owner = ownerOf(command);
  const before = new Set(state.due.map(valueKey));
  const now = new Set(due.map(valueKey));
  return accept(
    ...state.due
      .filter((one) => !now.has(valueKey(one)))
      .map((one): RotationEvent => {
        const reason = present.includes(one.name) ? 'replaced' : 'removed';
        return { type: 'SecretRotationCleared', data: { ...owner, ...one, reason } };
      }),
    ...due
      .filter((one) => !before.has(valueKey(one)))
      .map((one): RotationEvent => ({ type: 'SecretRotationDue', data: { ...owner, ...one } })),
  );
}

function ownerOf({ scriptId, groupId }: RotationOwner): RotationOwner {
  return scriptId === null ? { scriptId, groupId } : { scriptId, groupId: null };
}

export const rotationAggregate: Aggregate<RotationState, RotationCommand, RotationEvent> = {
  streamType: 'rotation',
  commands: { NoteRotations: true },
  events: { SecretRotationDue: true, SecretRotationCleared: true },
  initial: initialRotations,
  evolve: evolveRotations,
  stateVersion: 1,
  decide: decideRotations,
  streamOf: (command) => `rotation-${command.scriptId ?? command.groupId}`,
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
