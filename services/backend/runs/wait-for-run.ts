/** Implements `Prefer: wait=30` (RFC 7240), which delays the response until the run has ended, for at most the given
 *  number of seconds. */
import { mustParse, parseRunId } from '#domain/kernel/ids.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { RunsTable } from '#projections/runs/table.ts';
import type { Services } from '../services.ts';

const maxWaitSeconds = 60;
/** Also polls, because bus messages may be lost. */
const pollEveryMs = 1000;

/** The requested wait in seconds, at most `maxWaitSeconds`; 0 if no valid wait is requested. */
export function waitSecondsOf(prefer: string | undefined): number {
  const wanted = /(?:^|[,;\s])wait\s*=\s*"?(\d+)"?(?=$|[,;\s])/i.exec(prefer ?? '')?.[1];
  return Math.min(Number(wanted ?? 0), maxWaitSeconds);
}

/** Waits for the end of the run.
 *  @returns the finished run, or the current run after the timeout or if the client disconnects */
export async function untilFinished(
  run: RunsTable,
  waitSeconds: number,
  { bus, readModels }: Pick<Services, 'bus' | 'readModels'>,
  gone: AbortSignal,
): Promise<RunsTable> {
  const runId = mustParse(parseRunId, run.run_id);
  const deadlineMs = performance.now() + waitSeconds * 1000;
  let changed: () => void = () => undefined;
  const untilChanged = () => new Promise<void>((resolve) => (changed = resolve));
  let next = untilChanged();
  const unsubscribe = bus.subscribe('script-completed', (message) => {
    if (message.runId === runId) changed();
  });
  const leave = (): void => changed();
  gone.addEventListener('abort', leave);
  try {
    for (let latest = run; ; latest = (await findRun(readModels, runId)) ?? run) {
      const leftMs = deadlineMs - performance.now();
      if (latest.finished_at !== null || leftMs <= 0 || gone.aborted) return latest;
      const timer = setTimeout(changed, Math.min(leftMs, pollEveryMs));
      await next;
      clearTimeout(timer);
      // Starts before the lookup, so that the lookup misses no change.
      next = untilChanged();
    }
  } finally {
    unsubscribe();
    gone.removeEventListener('abort', leave);
  }
}
