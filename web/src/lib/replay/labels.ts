/** Labels for the replay. */
import type { Replay, ReplayDifference } from '#lib/api/types.ts';
import { duration, localTime } from '#lib/ui/format.ts';

type Thing = Readonly<Record<string, unknown>>;

export const kindLabels: Record<ReplayDifference['kind'], string> = {
  group: 'Group',
  user: 'Person',
  script: 'Script',
  schedule: 'Schedule',
  webhook: 'Webhook',
  chain: 'Chain',
};

/** Labels that state how a resource has changed since the selected time. */
export const changeLabels: Record<ReplayDifference['change'], string> = {
  created: 'Created since',
  changed: 'Changed since',
  deleted: 'Deleted since',
};

/** Maps the IDs of scripts and groups in all given replays to their names. */
export function namesOf(...replays: readonly (Replay | undefined)[]): ReadonlyMap<string, string> {
  return new Map(
    replays.flatMap((replay) =>
      [...(replay?.groups.items ?? []), ...(replay?.scripts.items ?? [])].map(
        ({ id, name }) => [id, name] as const,
      ),
    ),
  );
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The display name of a resource in a difference. */
export function nameOf(
  { kind, before, after }: Pick<ReplayDifference, 'kind' | 'before' | 'after'>,
  names: ReadonlyMap<string, string>,
): string {
  const thing: Thing = after ?? before ?? {};
  const named = (field: string) => names.get(text(thing[field])) ?? 'deleted script';
  switch (kind) {
    case 'group':
    case 'script':
      return text(thing['name']);
    case 'user':
      return text(thing['email']);
    case 'webhook':
      return `${text(thing['name'])} of ${named('script_id')}`;
    case 'schedule': {
      const seconds = thing['interval_seconds'];
      const when =
        text(thing['cron']) ||
        (typeof seconds === 'number' ? `every ${duration(seconds * 1000)}` : 'once');
      return `${when} of ${named('script_id')}`;
    }
    case 'chain':
      return `${named('source_script_id')} → ${named('target_script_id')}`;
  }
}

/** Converts `max_concurrent_runs` to "Max concurrent runs". */
export function fieldLabel(field: string): string {
  const words = field.replace(/_ids?$/, '').replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Formats a field value for display. */
export function formatValue(value: unknown, names: ReadonlyMap<string, string>): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) {
    return value.length === 0 ? '–' : value.map((one) => formatValue(one, names)).join(', ');
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  if (/^\d{4}-\d\d-\d\dT.*Z$/.test(value)) return localTime(value);
  return names.get(value) ?? value;
}
