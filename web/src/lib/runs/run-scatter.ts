/** Builds a scatter plot of run durations by status. */
import type { RunStatus } from '#lib/api/types.ts';
import type { ChartModel, Series } from '#lib/ui/charts/model.ts';
import { counted, duration, localTime } from '#lib/ui/format.ts';
import { statusLabel } from './labels.ts';

interface EndedRun {
  readonly run_id: string;
  readonly script_name: string;
  readonly status: RunStatus;
  readonly queued_at: string;
  readonly duration_ms: number | null;
}

const looks = [
  { status: 'success', color: '--success', shape: 'circle' },
  { status: 'failed', color: '--danger', shape: 'crossRot' },
  { status: 'stopped', color: '--muted-foreground', shape: 'rect' },
] as const;

/** Builds the chart of finished runs, without its time axis. */
export function runScatter(runs: readonly EndedRun[]): {
  summary: string;
  model: Omit<ChartModel, 'tickOf'>;
} {
  const series = looks.map(({ status, color, shape }): Series => {
    const own = runs.filter((run) => run.status === status && run.duration_ms !== null);
    return {
      name: statusLabel(status),
      color,
      shape,
      // A logarithmic axis has no zero, so durations are at least 1 ms.
      points: own.map((run) => [Date.parse(run.queued_at), Math.max(1, run.duration_ms ?? 1)]),
      items: own.map((run) => ({ label: run.script_name, href: `/runs/${run.run_id}` })),
    };
  });
  const failed = runs.filter(({ status }) => status === 'failed').length;
  return {
    summary: runs.length === 0 ? 'none' : `${counted(runs.length, 'run')}, ${failed} failed`,
    model: {
      kind: 'points',
      series,
      titleOf: (ms) => localTime(new Date(ms).toISOString()),
      valueOf: duration,
    },
  };
}
