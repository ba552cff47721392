import type { Pair } from '#lib/runs/compare/differences.ts';

/** Labels for settings, by API field name. */
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

/** Converts changed settings to table rows. Fields that the settings page does not show are omitted. A setting with
 *  several fields has one row per changed field. */
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
    const whole = { name: settingLabels[name], before: text(before), after: text(after) };
    const fields = changedFields(before, after).map((pair) => ({
      ...pair,
      name: `${whole.name}: ${pair.name.replaceAll('_', ' ')}`,
    }));
    return fields.length > 0 ? fields : [whole];
  });
}

/** Returns the fields that differ between two objects; returns no fields if either value is not an object. */
function changedFields(before: unknown, after: unknown): Pair[] {
  const [one, other] = [before ?? {}, after ?? {}];
  if (!isObject(one) || !isObject(other)) return [];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .map((name) => ({ name, before: shown(one[name]), after: shown(other[name]) }))
    .filter((pair) => pair.before !== pair.after);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSetting(name: string): name is keyof typeof settingLabels {
  return Object.hasOwn(settingLabels, name);
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
