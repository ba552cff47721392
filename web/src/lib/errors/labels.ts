import type { ErrorGroup, ErrorGroupStatus } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';
import { localTime } from '#lib/ui/format.ts';

const statusLabels: Record<ErrorGroupStatus, string> = {
  open: 'Open',
  resolved: 'Resolved',
  ignored: 'Ignored',
};

export const statusTones: Record<ErrorGroupStatus, Tone> = {
  open: 'danger',
  resolved: 'success',
  ignored: 'neutral',
};

export const errorGroupStatuses = Object.keys(statusLabels) as ErrorGroupStatus[];

export function statusLabel(status: ErrorGroupStatus): string {
  return statusLabels[status];
}

/** The status with its details, such as "Resolved in version 4". */
export function statusSentence(
  group: Pick<ErrorGroup, 'status' | 'resolved_in_version' | 'ignored_until'>,
): string {
  if (group.resolved_in_version !== null) return `Resolved in version ${group.resolved_in_version}`;
  if (group.ignored_until !== null) return `Ignored until ${localTime(group.ignored_until)}`;
  return statusLabels[group.status];
}

/** Describes where an error occurs: the script of the last run, the number of other scripts, and the line. */
export function placeOf({
  script_name: name,
  script_ids: ids,
  place,
}: Pick<ErrorGroup, 'script_name' | 'script_ids' | 'place'>): string {
  const others = ids.length > 1 ? ` and ${ids.length - 1} more` : '';
  return `${name}${others}${place === null ? '' : ` · ${place}`}`;
}

/** For a failure without an exception, the type is a lowercase reason and the message is a sentence. */
const reason = /^[a-z]+(_[a-z]+)*$/;

/** The error's type and message on one line, such as "ValueError: no such row". */
export function titleOf({ type, message }: Pick<ErrorGroup, 'type' | 'message'>): string {
  const [first = ''] = message.split('\n');
  if (first === '') return type;
  return reason.test(type)
    ? `${first.charAt(0).toUpperCase()}${first.slice(1)}`
    : `${type}: ${first}`;
}
