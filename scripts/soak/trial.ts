/** Follows the trial of a new release through the files that the processes of an update share. The files show when a
 *  rollback begins to risk acknowledged data, and when the rollback is complete. */
import type { Outcome, Switch } from '#services/shared/releases.ts';
import type { Entry } from './journal.ts';

type Ending = 'succeeded' | 'rolled_back';

/** The content of the shared files. Missing files are undefined. */
export interface TrialFiles {
  readonly wanted: Pick<Switch, 'isTried' | 'isWell' | 'copied'> | undefined;
  readonly outcome: Pick<Outcome, 'kind'> | undefined;
}

/** Follows one update. */
export class Trial {
  readonly #id: string;
  #hasCopy = false;
  #isOver = false;
  #isRuledOut = false;

  constructor(id: string) {
    this.#id = id;
  }

  /** Compares the files with their content at the previous call. Must be called several times a second.
   *  @param files the current content of the files
   *  @returns new entries for the journal */
  follow({ wanted, outcome }: TrialFiles): readonly Entry[] {
    if (this.#isOver) return [];
    if (!this.#hasCopy) {
      if (wanted?.isTried !== true || wanted.copied === undefined) return [];
      this.#hasCopy = true;
      // The copy of the database is complete, and the new release has not started yet.
      return [{ what: 'marked', point: this.#id }];
    }
    if (wanted !== undefined || outcome === undefined) return [];
    this.#isOver = true;
    if (outcome.kind === 'succeeded') return [];
    // The copy has been restored, and the previous release has not started yet.
    return [
      { what: 'returning', point: this.#id },
      { what: 'returned', point: this.#id },
    ];
  }

  /** Records that all processes were killed. @param wanted the content of `switch.json` after the kill */
  noteKill(wanted: TrialFiles['wanted']): void {
    // A release whose trial was interrupted is rolled back.
    if (wanted?.isTried === true && wanted.isWell !== true) this.#isRuledOut = true;
  }

  /** @param isGood whether the new release is healthy
   *  @returns the expected outcome of the update */
  expected(isGood: boolean): Ending {
    return isGood && !this.#isRuledOut ? 'succeeded' : 'rolled_back';
  }
}
