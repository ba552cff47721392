import type { QueryClient } from '@tanstack/svelte-query';
import type { ListedScript, RecentRun, Run } from '#lib/api/types.ts';

type Activity = NonNullable<ListedScript['activity']>;

const shownRuns = 10;

/** Updates a script's latest runs with the announced runs. */
export function withRuns(activity: Activity, runs: readonly Run[]): Activity {
  const told = runs.map(recentOf);
  const ids = new Set(told.map((run) => run.run_id));
  const others = activity.recent_runs.filter((run) => !ids.has(run.run_id));
  const newestFirst = [...others, ...told].toSorted((one, other) =>
    one.run_id < other.run_id ? 1 : -1,
  );
  return { ...activity, recent_runs: newestFirst.slice(0, shownRuns) };
}

function recentOf({ run_id, status, finished_at, duration_ms }: Run): RecentRun {
  return { run_id, status, finished_at, duration_ms };
}

/** Returns the most recently queued run among the finished runs. */
export function lastEnded(runs: readonly Run[]): Run | undefined {
  return runs
    .filter((run) => run.finished_at !== null)
    .toSorted((one, other) => (one.run_id < other.run_id ? -1 : 1))
    .at(-1);
}

/** Whether the run is waiting for approval, or its approval is displayed. */
export function concernsApproval(client: QueryClient, { run_id, waiting_for }: Run): boolean {
  if (waiting_for?.kind === 'approval') return true;
  const shown = client.getQueriesData({ queryKey: ['approvals'] });
  return shown.some(([, data]) => JSON.stringify(data ?? null).includes(run_id));
}
