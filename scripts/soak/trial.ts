/** The course of a release trial, from the files that the processes of an update share. The files only show when the
 *  trial began and ended: a rollback may lose the data that was acknowledged in between, and no other data. */
import type { Outcome, Switch } from '#services/shared/releases.ts';
import type { Entry } from './journal.ts';

type Ending = 'succeeded' | 'rolled_back';

/** A file that does not exist is undefined. */
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

  /** @param files their current content. @returns new entries for the journal. Call it several times a second */
  follow({ wanted, outcome }: TrialFiles): readonly Entry[] {
    if (this.#isOver) return [];
    if (!this.#hasCopy) {
      if (wanted?.isTried !== true || wanted.copied === undefined) return [];
      this.#hasCopy = true;
      // The copy of the database is complete, and the new release has not started.
      return [{ what: 'marked', point: this.#id }];
    }
    if (wanted !== undefined || outcome === undefined) return [];
    this.#isOver = true;
    if (outcome.kind === 'succeeded') return [];
    // The copy has been restored, and the previous release has not started.
    return [
      { what: 'returning', point: this.#id },
      { what: 'returned', point: this.#id },
    ];
  }

  /** Records that everything was killed. @param wanted the file after the kill */
  noteKill(wanted: TrialFiles['wanted']): void {
    // A release whose trial was interrupted is rolled back.
    if (wanted?.isTried === true && wanted.isWell !== true) this.#isRuledOut = true;
  }

  /** @param isGood whether the new release works. @returns the expected outcome of its update */
  expected(isGood: boolean): Ending {
    return isGood && !this.#isRuledOut ? 'succeeded' : 'rolled_back';
  }
}
