/** What went wrong, by the journal alone. */
import type { Seen } from './journal.ts';

export interface Verdict {
  /** Accepted runs that the platform does not know, and accepted versions of files that are gone. */
  readonly lost: readonly string[];
  /** Runs that more than one process executed. */
  readonly duplicated: readonly string[];
  /** Runs that had not ended when everything else had. */
  readonly stuck: readonly string[];
  /** Runs whose end is not what their process says, and ends that nothing explains. */
  readonly wrong: readonly string[];
  /** Pairs of runs of one script that were executed at the same time, which its settings rule out. */
  readonly overlapping: readonly string[];
  /** Runs of one script that were executed before one that was accepted earlier. */
  readonly outOfOrder: readonly string[];
}

type Final = Extract<Seen, { what: 'final' }>;

/** Ends that a fault of the platform explains; a script that may be tried again is. */
const explained = ['runtime_lost', 'sandbox_error'];

/** @param journal in the order of time; its scripts run one at a time */
export function judge(journal: readonly Seen[]): Verdict {
  const of = <What extends Seen['what']>(what: What) =>
    journal.filter((entry): entry is Extract<Seen, { what: What }> => entry.what === what);
  const finals = new Map(of('final').map((final) => [final.run, final]));
  const accepted = of('accepted');
  const executions = executionsOf(journal);
  const ended = new Set(of('ended').map(({ run }) => run));
  const kept = new Map(of('kept').map(({ script, content }) => [script, content]));
  const lastSaved = new Map(of('saved').map(({ script, content }) => [script, content]));
  return {
    lost: [
      ...accepted.filter(({ run }) => !finals.has(run)).map(({ run }) => run),
      ...[...lastSaved].filter(([script, content]) => kept.get(script) !== content).map(String),
    ],
    duplicated: [...executions.values()].filter(({ processes }) => processes.size > 1).map(runOf),
    stuck: of('final')
      .filter(({ status }) => status === 'queued' || status === 'running')
      .map(runOf),
    wrong: [...finals.values()].filter((final) => isWrong(final, executions, ended)).map(runOf),
    overlapping: overlapsOf([...executions.values()]),
    outOfOrder: disorderOf(accepted, executions, finals),
  };
}

interface Execution {
  readonly run: string;
  readonly script: string;
  readonly processes: Set<string>;
  readonly from: number;
  to: number;
}

function executionsOf(journal: readonly Seen[]): ReadonlyMap<string, Execution> {
  const found = new Map<string, Execution>();
  for (const entry of journal) {
    if (entry.what !== 'started' && entry.what !== 'alive' && entry.what !== 'ended') continue;
    const { run, script, process, at } = entry;
    const execution = found.get(run) ?? { run, script, processes: new Set(), from: at, to: at };
    execution.processes.add(process);
    execution.to = at;
    found.set(run, execution);
  }
  return found;
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

function overlapsOf(executions: readonly Execution[]): readonly string[] {
  const byStart = executions.toSorted((one, other) => one.from - other.from);
  const last = new Map<string, Execution>();
  return byStart.flatMap((execution) => {
    const before = last.get(execution.script);
    if (before === undefined || before.to < execution.to) last.set(execution.script, execution);
    return before !== undefined && execution.from < before.to
      ? [`${before.run} and ${execution.run}`]
      : [];
  });
}

/** Runs are accepted one after another here, so that their order is known. */
function disorderOf(
  accepted: readonly Extract<Seen, { what: 'accepted' }>[],
  executions: ReadonlyMap<string, Execution>,
  finals: ReadonlyMap<string, Final>,
): readonly string[] {
  const latest = new Map<string, number>();
  return accepted.flatMap(({ run, script }) => {
    const execution = executions.get(run);
    // One that was never executed has no place; its end says why.
    if (execution === undefined || finals.get(run)?.retryOf != null) return [];
    const before = latest.get(script) ?? 0;
    latest.set(script, Math.max(before, execution.from));
    return execution.from < before ? [run] : [];
  });
}

function runOf({ run }: { readonly run: string }): string {
  return run;
}
