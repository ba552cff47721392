/** Finds the differences between two runs, except for code and logs. */
import type { Environment, Run } from '#lib/api/types.ts';
import { actorLabel } from '#lib/ui/actor-label.ts';
import { byteSize, counted, duration } from '#lib/ui/format.ts';
import { errorHeadline, statusLabel, triggerOf } from '../labels.ts';

/** A row with the values of both runs; a missing value is `null`. */
export interface Pair {
  name: string;
  before: string | null;
  after: string | null;
}

/** Pairs the properties of two runs. */
export function factsOf(before: Run, after: Run): Pair[] {
  const pair = (name: string, of: (run: Run) => string | null | undefined): Pair => ({
    name,
    before: of(before) ?? null,
    after: of(after) ?? null,
  });
  const size = (bytes: number | null | undefined) => (bytes == null ? null : byteSize(bytes));
  const time = (ms: number | null) => (ms === null ? null : duration(ms));
  return [
    pair('Status', (run) => statusLabel(run.status)),
    pair('Failure', errorHeadline),
    pair('Duration', (run) => time(run.duration_ms)),
    pair('Queue wait', (run) => time(run.queue_ms)),
    pair('Peak memory', (run) => size(run.usage?.max_memory_bytes)),
    pair('CPU time', (run) => run.usage?.cpu_seconds?.toFixed(2).concat(' s')),
    pair('Peak threads', (run) => run.usage?.max_threads?.toString()),
    pair('Log', (run) => `${counted(run.log_lines, 'line')}, ${byteSize(run.log_bytes)}`),
    pair('Version', (run) => `v${run.script_version}`),
    pair('Trigger', (run) => triggerOf(run)),
    pair('Requested by', (run) => actorLabel(run.requested_by)),
    pair('Attempt', (run) => String(run.attempt)),
    pair('Runtime', (run) => run.runtime_id),
  ].filter((one) => one.before !== null || one.after !== null);
}

/** The relative change from the first value to the second, such as "+40%", or empty if the change is meaningless. */
export function change(
  before: number | null | undefined,
  after: number | null | undefined,
): string {
  if (!before || after == null) return '';
  const percent = Math.round((100 * (after - before)) / before);
  return percent === 0 ? '' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`;
}

/** Returns the values that differ, by name. */
export function changedEntries(
  before: Readonly<Record<string, unknown>> | null,
  after: Readonly<Record<string, unknown>> | null,
): Pair[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const text = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  return names
    .map((name) => ({ name, before: text(before?.[name]), after: text(after?.[name]) }))
    .filter((pair) => pair.before !== pair.after);
}

/** Returns the packages whose versions differ, based on the latest resolution of each environment. */
export function changedPackages(before: Environment, after: Environment): Pair[] {
  const versions = ({ locks }: Environment) => {
    const last = locks
      .toSorted((one, other) => one.locked_at.localeCompare(other.locked_at))
      .at(-1);
    return Object.fromEntries((last?.packages ?? []).map(({ name, version }) => [name, version]));
  };
  return changedEntries(versions(before), versions(after)).map((pair) => ({
    ...pair,
    before: pair.before && (JSON.parse(pair.before) as string),
    after: pair.after && (JSON.parse(pair.after) as string),
  }));
}
