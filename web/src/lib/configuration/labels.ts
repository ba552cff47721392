/** Labels for configuration differences. */
import { ApiError } from '#lib/api/api-error.ts';
import type { ConfigurationImport } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

type Difference = ConfigurationImport['items'][number];

export const actionLabels: Readonly<Record<Difference['action'], { word: string; tone: Tone }>> = {
  create: { word: 'New', tone: 'success' },
  change: { word: 'Change', tone: 'info' },
  delete: { word: 'Delete', tone: 'danger' },
  absent: { word: 'Keep', tone: 'neutral' },
  unchanged: { word: 'Unchanged', tone: 'neutral' },
};

export const kindLabels: Readonly<Record<Difference['kind'], string>> = {
  group: 'Group',
  secret_store: 'Secret store',
  script: 'Script',
  channel: 'Channel',
  rule: 'Rule',
  calendar: 'Calendar',
  schedule: 'Schedule',
  webhook: 'Webhook',
  chain: 'Chain',
  pool: 'Pool',
  retention: 'Setting',
};

/** Summarizes the effect of an import in one sentence. */
export function summaryOf({ create, change, delete: gone }: ConfigurationImport['counts']): string {
  const parts = [
    ...(create > 0 ? [`${create} created`] : []),
    ...(change > 0 ? [`${change} changed`] : []),
    ...(gone > 0 ? [`${gone} deleted`] : []),
  ];
  if (parts.length === 0) return 'No changes.';
  const last = parts.pop();
  const all = parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
  return `${create + change + gone} ${create + change + gone === 1 ? 'change' : 'changes'}: ${all}.`;
}

/** Formats a value as one line of text. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (typeof value === 'object' && 'size_bytes' in value && 'sha256' in value) {
    return `${String(value.size_bytes)} bytes, SHA-256 ${String(value.sha256).slice(0, 8)}…`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text || '“”';
}

/** Returns the error to display. The message of a client error (4xx) includes the location in the document. */
export function failureOf(error: unknown): unknown {
  return error instanceof ApiError && error.status < 500 ? new Error(error.message) : error;
}
