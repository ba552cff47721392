import type { ScriptId } from '#domain/kernel/ids.ts';
import type { MissedExpectation } from './expectation.ts';

/** Sent by the scheduler when the result of a check differs from the recorded state. */
export interface NoteExpectations {
  readonly type: 'NoteExpectations';
  readonly scriptId: ScriptId;
  /** All expectations that were missed at the time of the check. */
  readonly missed: readonly MissedExpectation[];
  /** The keys of all expectations that were checked. */
  readonly checked: readonly string[];
  /** The number of events in the stream at the time of the check. If the stream has grown since, the check is
   *  outdated and the command is ignored. */
  readonly seen: number;
}

export type ExpectationCommand = NoteExpectations;
