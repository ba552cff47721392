import type { ErrorGroup, ErrorGroupStatus } from '#lib/api/types.ts';

const statusLabels: Record<ErrorGroupStatus, string> = {
  open: 'Open',
  resolved: 'Resolved',
  ignored: 'Ignored',
};

export const errorGroupStatuses = Object.keys(statusLabels) as ErrorGroupStatus[];

export function statusLabel(status: ErrorGroupStatus): string {
  return statusLabels[status];
}

/** The error in one line, such as "ValueError: no such row". */
export function titleOf({ type, message }: Pick<ErrorGroup, 'type' | 'message'>): string {
  const [first = ''] = message.split('\n');
  return first === '' ? type : `${type}: ${first}`;
}
