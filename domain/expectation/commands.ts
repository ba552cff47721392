import type { ScriptId } from '#domain/kernel/ids.ts';
import type { MissedExpectation } from './expectation.ts';

/** Sent by the scheduler after each check that found a difference. */
export interface NoteExpectations {
  readonly type: 'NoteExpectations';
  readonly scriptId: ScriptId;
  /** All expectations that are missed now. */
  readonly missed: readonly MissedExpectation[];
  /** The keys of all expectations that were checked. */
  readonly checked: readonly string[];
  /** The number of recorded events that the check has read. The command is ignored if there are more. */
  readonly seen: number;
}

export type ExpectationCommand = NoteExpectations;
