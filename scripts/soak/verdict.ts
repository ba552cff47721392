/** Finds violations recorded in the journal. */
import type { Seen } from './journal.ts';

export interface Verdict {
  /** Accepted runs and accepted file versions that the platform has lost. */
  readonly lost: readonly string[];
  /** Runs that were executed by more than one process. */
  readonly duplicated: readonly string[];
  /** Runs that did not finish. */
  readonly stuck: readonly string[];
  /** Runs whose outcome differs from what their process reported, runs whose outcome no fault explains, and operations
   *  with an unexpected outcome. */
  readonly wrong: readonly string[];
  /** Pairs of runs of one script that executed at the same time, although the script's settings prevent this. */
  readonly overlapping: readonly string[];
  /** Runs that executed before another run of the same script that was accepted earlier. */
  readonly outOfOrder: readonly string[];
}

type Final = Extract<Seen, { what: 'final' }>;

/** Failure reasons that a platform fault explains. Runs with retries are then executed again. */
const explained = ['runtime_lost', 'runtime_stopped', 'sandbox_error'];

/** @param journal the entries in chronological order. Runs of a script execute one at a time */
export function judge(journal: readonly Seen[]): Verdict {
  const of = <What extends Seen['what']>(what: What) =>
    journal.filter((entry): entry is Extract<Seen, { what: What }> => entry.what === what);
  const accepted = of('accepted');
  // Other scripts, such as a purged script, send no reports.
  const witnessed = new Set(accepted.map(({ script }) => script));
  const finals = new Map(
    of('final')
      .filter(({ script }) => witnessed.has(script))
      .map((final) => [final.run, final]),
  );
  const returns = returnsIn(journal);
  const isDiscarded = ({ at }: Seen) => returns.some((one) => one.from < at && at < one.until);
  const executions = executionsOf(journal);
  const executed = new Map(executions.map((execution) => [execution.run, execution]));
  const ended = new Set(of('ended').map(({ run }) => run));
  const concluded = of('concluded');
  const isOver = new Set(concluded.map(({ id }) => id));
  const isExpired = expiryIn(accepted, finals, of('days passed').at(-1)?.at ?? 0);
  return {
    lost: [
      ...accepted.filter((one) => !finals.has(one.run) && !isDiscarded(one)).map(runOf),
      ...lostFiles(of('saved'), of('kept'), isDiscarded),
    ],
    duplicated: duplicatesOf(executions, returns),
    stuck: [
      ...of('final')
        .filter(({ status }) => status === 'queued' || status === 'running')
        .map(runOf),
      ...of('begun')
        .filter(({ id }) => !isOver.has(id))
        .map(({ operation }) => operation),
    ],
    wrong: [
      ...[...finals.values()]
        .filter((final) => isWrong(final, executed, ended) && !isExpired(final, executed))
        .map(runOf),
      ...concluded
        .filter(({ outcome, expected }) => !expected.includes(outcome))
        .map(({ operation, outcome }) => `${operation}: ${outcome}`),
    ],
    overlapping: overlapsOf(executions),
    outOfOrder: disorderOf(accepted, executed, finals),
  };
}

/** A restore or rollback. Data acknowledged between `from` and `until` may be lost. */
interface Return {
  readonly from: number;
  readonly asked: number;
  readonly until: number;
}

function returnsIn(journal: readonly Seen[]): readonly Return[] {
  const marked = new Map<string, number>();
  const asked = new Map<string, number>();
  return journal.flatMap((entry) => {
    if (entry.what === 'marked') marked.set(entry.point, entry.at);
    if (entry.what === 'returning') asked.set(entry.point, entry.at);
    if (entry.what !== 'returned') return [];
    const from = marked.get(entry.point) ?? entry.at;
    return [{ from, asked: asked.get(entry.point) ?? from, until: entry.at }];
  });
}

/**
 * Finds lost files. A file must contain the last saved content that no restore or rollback can have discarded, or newer
 * content.
 */
function lostFiles(
  saved: readonly Extract<Seen, { what: 'saved' }>[],
  kept: readonly Extract<Seen, { what: 'kept' }>[],
  isDiscarded: (entry: Seen) => boolean,
): readonly string[] {
  const found = new Map(kept.map(({ script, content }) => [script, content]));
  const possible = new Map<string, string[]>();
  for (const one of saved) {
    const before = isDiscarded(one) ? possible.get(one.script) : undefined;
    possible.set(one.script, [...(before ?? []), one.content]);
  }
  return [...possible]
    .filter(([script, contents]) => !contents.includes(found.get(script) ?? ''))
    .map(([script, contents]) => `${script},${contents.at(-1)}`);
}

/** The reports from one process of a run. */
interface Execution {
  readonly run: string;
  readonly script: string;
  readonly from: number;
  to: number;
}

/** Returns executions in order of start time. */
function executionsOf(journal: readonly Seen[]): readonly Execution[] {
  const found = new Map<string, Execution>();
  for (const entry of journal) {
    if (entry.what !== 'started' && entry.what !== 'alive' && entry.what !== 'ended') continue;
    const { run, script, process, at } = entry;
    const execution = found.get(process) ?? { run, script, from: at, to: at };
    execution.to = at;
    found.set(process, execution);
  }
  return [...found.values()];
}

/** Returns runs that were executed more than once. Omits a run if a restore or rollback discarded its previous
 *  execution. */
function duplicatesOf(
  executions: readonly Execution[],
  returns: readonly Return[],
): readonly string[] {
  const last = new Map<string, { from: number; explained: Set<Return> }>();
  const duplicated = new Set<string>();
  for (const { run, from } of executions) {
    const before = last.get(run);
    const explained = before?.explained ?? new Set();
    last.set(run, { from, explained });
    if (before === undefined) continue;
    const reason = returns.find(
      (one) =>
        !explained.has(one) &&
        one.from < before.from &&
        before.from <= one.until &&
        one.asked < from,
    );
    if (reason === undefined) duplicated.add(run);
    else explained.add(reason);
  }
  return [...duplicated];
}

function isWrong(
  { run, status, reason }: Final,
  executions: ReadonlyMap<string, Execution>,
  ended: ReadonlySet<string>,
): boolean {
  if (status === 'success') return !ended.has(run);
  if (status === 'failed') return !explained.includes(reason ?? '');
  return status === 'stopped' || (status === 'queued' && executions.has(run));
}

/** Returns a predicate for runs that were accepted before the clocks moved ahead and that expired without being
 *  executed. Their expiry is correct.
 *  @param passedAt when the clocks moved ahead, in milliseconds since 1970 */
function expiryIn(
  accepted: readonly Extract<Seen, { what: 'accepted' }>[],
  finals: ReadonlyMap<string, Final>,
  passedAt: number,
) {
  const times = new Map(accepted.map(({ run, at }) => [run, at]));
  const acceptedAt = (run: string): number => {
    const first = finals.get(run)?.retryOf;
    return times.get(run) ?? (first == null ? Infinity : acceptedAt(first));
  };
  return ({ run, reason }: Final, executed: ReadonlyMap<string, Execution>): boolean =>
    reason === 'expired' && !executed.has(run) && acceptedAt(run) < passedAt;
}

function overlapsOf(executions: readonly Execution[]): readonly string[] {
  const last = new Map<string, Execution>();
  return executions.flatMap((execution) => {
    const before = last.get(execution.script);
    if (before === undefined || before.to < execution.to) last.set(execution.script, execution);
    return before !== undefined && execution.from < before.to
      ? [`${before.run} and ${execution.run}`]
      : [];
  });
}

/** Returns runs that were executed out of order. Clients request a script's runs one after another, so the expected
 *  order is known. */
function disorderOf(
  accepted: readonly Extract<Seen, { what: 'accepted' }>[],
  executions: ReadonlyMap<string, Execution>,
  finals: ReadonlyMap<string, Final>,
): readonly string[] {
  const latest = new Map<string, number>();
  return accepted.flatMap(({ run, script }) => {
    const execution = executions.get(run);
    // Omits lost runs and runs that were never executed, because they cannot be ordered.
    if (execution === undefined || finals.get(run)?.retryOf !== null) return [];
    const before = latest.get(script) ?? 0;
    latest.set(script, Math.max(before, execution.from));
    return execution.from < before ? [run] : [];
  });
}

function runOf({ run }: { readonly run: string }): string {
  return run;
}
