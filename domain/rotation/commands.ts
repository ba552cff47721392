import type { DueRotation, RotationOwner } from './rotation.ts';

/** Sent by the scheduler when the result of a check differs from the recorded state. */
export type NoteRotations = RotationOwner & {
  readonly type: 'NoteRotations';
  /** All secret values that are due for rotation. */
  readonly due: readonly DueRotation[];
  /** The names of all existing secrets. */
  readonly present: readonly string[];
  /** The number of events in the stream at the time of the check. If the stream has grown since, the check is
   *  outdated and the command is ignored. */
  readonly seen: number;
};

export type RotationCommand = NoteRotations;
