import type { DueRotation, RotationOwner } from './rotation.ts';

/** Sent by the scheduler if the result of a check differs from the recorded state. */
export type NoteRotations = RotationOwner & {
  readonly type: 'NoteRotations';
  /** All values that are due now. */
  readonly due: readonly DueRotation[];
  /** The names of all secrets that exist. */
  readonly present: readonly string[];
  /** The number of events in the stream when the check read it. If the stream has more events now, the check is
   *  outdated and the command is ignored. */
  readonly seen: number;
};

export type RotationCommand = NoteRotations;
