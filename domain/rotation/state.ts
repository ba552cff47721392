import type { RotationEvent } from './events.ts';
import { valueKey, type DueRotation } from './rotation.ts';

export interface RotationState {
  /** The number of events in the stream. */
  readonly events: number;
  /** The secret values that are due for rotation, oldest first. */
  readonly due: readonly DueRotation[];
}

export const initialRotations: RotationState = { events: 0, due: [] };

export function evolveRotations(
  { events: before, due }: RotationState,
  { type, data }: RotationEvent,
): RotationState {
  const events = before + 1;
  const others = due.filter((one) => valueKey(one) !== valueKey(data));
  switch (type) {
    case 'SecretRotationDue': {
      const { name, version, ownerName, dueAt } = data;
      return { events, due: [...others, { name, version, ownerName, dueAt }] };
    }
    case 'SecretRotationCleared':
      return { events, due: others };
  }
}
