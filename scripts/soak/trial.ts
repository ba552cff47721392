/** Follows the trial of a release in the files that the processes of an update share. The files show the time from
 *  which a rollback may lose acknowledged data, and the time at which the rollback is complete. */
import type { Outcome, Switch } from '#services/shared/releases.ts';
import type { Entry } from './journal.ts';

type Ending = 'succeeded' | 'rolled_back';

/** The contents of these files; undefined for a file that does not exist. */
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

  /** Compares the files with the files of the previous call. Call it several times a second.
   *  @param files their current content
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

  /** @param isGood whether the new release works. @returns the expected outcome of its update */
  expected(isGood: boolean): Ending {
    return isGood && !this.#isRuledOut ? 'succeeded' : 'rolled_back';
  }
}
