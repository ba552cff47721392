/** Formats the results of `make soak`, one row per experiment. */
import { median } from '../bench/report.ts';
import type { Seen } from './journal.ts';
import { judge, type Verdict } from './verdict.ts';

/** One session of an experiment. */
export interface Session {
  readonly journal: readonly Seen[];
  /** The time from the end of each fault until runs ended again, in milliseconds. */
  readonly recoveriesMs: readonly number[];
  /** Why the session was aborted. Set if the platform did not work as required. */
  readonly problem?: string;
}

export interface Row {
  readonly experiment: string;
  readonly faults: number;
  readonly accepted: number;
  readonly verdict: Verdict;
  readonly recoveriesMs: readonly number[];
}

/** Adds up the sessions of one experiment. An aborted session counts as stuck. */
export function rowOf(experiment: string, sessions: readonly Session[]): Row {
  const verdicts = sessions.map(({ journal, problem }) => {
    const verdict = judge(journal);
    if (problem === undefined) return verdict;
    // No run counts as lost, because the final states were not checked.
    return { ...verdict, lost: [], stuck: [...verdict.stuck, problem] };
  });
  const all = (column: keyof Verdict) => verdicts.flatMap((verdict) => verdict[column]);
  const count = (...wanted: readonly Seen['what'][]) =>
    sessions.flatMap(({ journal }) => journal.filter(({ what }) => wanted.includes(what))).length;
  return {
    experiment,
    faults: count('fault'),
    accepted: count('accepted', 'saved'),
    verdict: {
      lost: all('lost'),
      duplicated: all('duplicated'),
      stuck: all('stuck'),
      wrong: all('wrong'),
      overlapping: all('overlapping'),
      outOfOrder: all('outOfOrder'),
    },
    recoveriesMs: sessions.flatMap(({ recoveriesMs }) => recoveriesMs),
  };
}

export function isClean({ verdict }: Row): boolean {
  return Object.values(verdict).every((found: readonly string[]) => found.length === 0);
}

const head = ['experiment', 'faults', 'accepted', 'lost', 'duplicated', 'stuck', 'wrong'];
const tail = ['overlapping', 'out of order', 'recovery median', 'max'];

/** Formats the rows as a Markdown table. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ experiment, faults, accepted, verdict, recoveriesMs }) => [
    experiment,
    faults,
    accepted,
    ...Object.values(verdict).map((found: readonly string[]) => found.length),
    ...(recoveriesMs.length === 0
      ? ['', '']
      : [median(recoveriesMs), Math.max(...recoveriesMs)].map(
          (ms) => `${(ms / 1000).toFixed(1)} s`,
        )),
  ]);
  const cells = [[...head, ...tail], [...head, ...tail].map(() => '---'), ...lines];
  return cells.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** Formats the number of kills at each reported step of an operation as a Markdown table. */
export function strikesTableOf(sessions: readonly Session[]): string {
  return countsTableOf(['operation', 'step', 'kills'], sessions, (entry) =>
    entry.what === 'struck' ? [entry.operation, entry.step] : undefined,
  );
}

/** Formats the number of operations by outcome as a Markdown table. */
export function endsTableOf(sessions: readonly Session[]): string {
  return countsTableOf(['operation', 'end', 'times'], sessions, (entry) =>
    entry.what === 'concluded' ? [entry.operation, entry.outcome] : undefined,
  );
}

/** Counts entries in the journals.
 *  @param keyOf returns the first cells of an entry's row, or undefined to omit the entry */
function countsTableOf(
  names: readonly string[],
  sessions: readonly Session[],
  keyOf: (entry: Seen) => readonly string[] | undefined,
): string {
  const counts = new Map<string, number>();
  for (const entry of sessions.flatMap(({ journal }) => journal)) {
    const key = keyOf(entry)?.join(' | ');
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const sorted = [...counts].toSorted(([one], [other]) => one.localeCompare(other));
  const lines = sorted.map(([key, count]) => `| ${key} | ${count} |`);
  return [`| ${names.join(' | ')} |`, `|${' --- |'.repeat(names.length)}`, ...lines].join('\n');
}
