import type { ListedScript, RecentRun } from './api/types.ts';

/** Scripts that are on and whose last run failed, the latest first. */
export function failing(scripts: readonly ListedScript[]): ListedScript[] {
  return scripts
    .filter(({ enabled, last_run: last }) => enabled && last?.status === 'failed')
    .toSorted((one, other) => endOf(other).localeCompare(endOf(one)));
}

/** Scripts that are on and have a due time, the nearest first. */
export function dueNext(scripts: readonly ListedScript[]): ListedScript[] {
  return scripts
    .filter(({ enabled, activity }) => enabled && activity?.next_fire_at)
    .toSorted((one, other) => dueOf(one).localeCompare(dueOf(other)));
}

/** What a run of the script usually takes; undefined without any success. */
export function usualMs({ activity }: ListedScript): number | undefined {
  return medianMs(activity?.recent_runs ?? []);
}

/** The median of those that succeeded; undefined without any. */
export function medianMs(
  runs: readonly Pick<RecentRun, 'status' | 'duration_ms'>[],
): number | undefined {
  const times = runs.flatMap(({ status, duration_ms: ms }) =>
    status === 'success' && ms !== null ? [ms] : [],
  );
  return times.toSorted((one, other) => one - other)[times.length >> 1];
}

const endOf = ({ last_run: last }: ListedScript): string => last?.finished_at ?? '';
const dueOf = ({ activity }: ListedScript): string => activity?.next_fire_at ?? '';
