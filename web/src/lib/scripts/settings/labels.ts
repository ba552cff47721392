import type { Pair } from '#lib/runs/compare/differences.ts';

/** The labels of settings, by their names in the API. */
export const settingLabels = {
  name: 'Name',
  description: 'Description',
  group_id: 'Group',
  tags: 'Tags',
  storage_quota_bytes: 'Storage',
  entrypoint: 'Entry point',
  python: 'Python',
  max_concurrent_runs: 'Max concurrent runs',
  start_mode: 'Start mode',
  listen_ports: 'Listen ports',
  runs_on: 'Runtime labels',
  pools: 'Pools',
  keep_alive: 'Always on',
  merge_stderr: 'Merge stderr into stdout',
  environment: 'Environment variables',
  parameters_schema: 'Parameter schema',
  limits: 'Run limits',
  retry: 'Retries',
  resident: 'Resident processes',
  expectations: 'Expectations',
  protected: 'Protection',
} as const;

interface Change {
  readonly name: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Changed settings for a table, without fields that the settings page does not have. */
export function settingPairs(
  changes: readonly Change[],
  groups: readonly { readonly id: string; readonly name: string }[] = [],
): Pair[] {
  return changes.flatMap(({ name, before, after }) => {
    if (!isSetting(name)) return [];
    const text = (value: unknown) => {
      const group = name === 'group_id' ? groups.find(({ id }) => id === value) : undefined;
      return group?.name ?? shown(value);
    };
    return [{ name: settingLabels[name], before: text(before), after: text(after) }];
  });
}

function isSetting(name: string): name is keyof typeof settingLabels {
  return Object.hasOwn(settingLabels, name);
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
