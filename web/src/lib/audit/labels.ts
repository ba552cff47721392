import type { AuditEntry, AuditVerification } from '#lib/api/types.ts';

const pages: Record<string, string> = {
  run: '/runs/',
  script: '/scripts/',
  schedule: '/schedules/',
};

/** The label of an action, such as "Script created" for `script_created`. Refused requests have an operation instead of
 *  an action, which is returned unchanged. */
export function actionLabel(action: string): string {
  if (action.includes('/')) return action;
  const words = action.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The URL of the affected resource's page, or null. */
export function resourcePage(resource: string): string | null {
  const match = /^([a-z]+)-([0-9a-f-]{36})$/.exec(resource);
  const page = match?.[1] === undefined ? undefined : pages[match[1]];
  return page === undefined ? null : `${page}${match?.[2]}`;
}

/** The kind and name of a resource, such as "script Daily report". Without a name, the label ends with the last
 *  characters of the ID. */
export function resourceLabel({ resource, resource_name: name }: AuditEntry): string {
  return name === null ? shortResource(resource) : `${kindOf(resource)} ${name}`;
}

/** Shortens `script-019aa3f2-…` to "script …2c3d4e5f". The end of an ID distinguishes resources better than its
 *  start. */
export function shortResource(resource: string): string {
  const match = /^(.+?)-[0-9a-f-]{28}([0-9a-f]{8})$/.exec(resource);
  return match ? `${kindOf(match[1] ?? '')} …${match[2]}` : resource;
}

/** Converts `secret_store-019aa3f2-…` to "secret store". */
function kindOf(resource: string): string {
  return (resource.split('-')[0] ?? '').replaceAll('_', ' ');
}

export const outcomeTones: Record<AuditEntry['outcome'], 'success' | 'danger' | 'warning'> = {
  accepted: 'success',
  refused: 'danger',
  failed: 'warning',
};

/** Labels for the reasons why a verification failed. */
export const breakLabels: Record<NonNullable<AuditVerification['reason']>, string> = {
  event_changed: 'the event was changed',
  event_missing: 'the event is missing',
  event_added: 'an event without an audit entry was added',
  entry_changed: 'the entry does not match its event',
  entry_missing: 'the entry is missing',
  hash_changed: 'the hash does not match the chain',
  head_differs: 'the hash differs from the saved checkpoint; earlier entries were rewritten',
  head_not_signed: 'the signature of the saved checkpoint is invalid',
  tail_missing: 'the saved checkpoint refers to a later entry; the trail was truncated',
};

/** Parses a saved chain head in the server's format `<audit_seq>:<hash>` or in the JSON format shown here. Returns null
 *  if the text is invalid. */
export function headIn(text: string): string | null {
  const hash = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/.exec(text)?.[0];
  const seq = /"audit_seq":\s*(\d+)/.exec(text)?.[1] ?? /^\s*(\d+):/.exec(text)?.[1];
  return hash && seq ? `${seq}:${hash}` : null;
}
