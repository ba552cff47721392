import type { AuditEntry, AuditVerification } from '#lib/api/types.ts';

const pages: Record<string, string> = {
  run: '/runs/',
  script: '/scripts/',
  schedule: '/schedules/',
};

/** What happened, readable: `script_created` is "Script created"; a refused request stays as it is. */
export function actionWords(action: string): string {
  if (action.includes('/')) return action;
  const words = action.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The page of what it happened to; null where there is none. */
export function resourcePage(resource: string): string | null {
  const match = /^([a-z]+)-([0-9a-f-]{36})$/.exec(resource);
  const page = match?.[1] === undefined ? undefined : pages[match[1]];
  return page === undefined ? null : `${page}${match?.[2]}`;
}

/** `script-019aa3f2-…` as "script …2c3d4e5f": short, and still to be told from others. */
export function shortResource(resource: string): string {
  const match = /^(.+?)-[0-9a-f-]{28}([0-9a-f]{8})$/.exec(resource);
  return match ? `${match[1]} …${match[2]}` : resource;
}

export const outcomeTones: Record<AuditEntry['outcome'], 'success' | 'danger' | 'warning'> = {
  accepted: 'success',
  refused: 'danger',
  failed: 'warning',
};

/** What a verification found. */
export const breakWords: Record<NonNullable<AuditVerification['reason']>, string> = {
  event_changed: 'its event is not what it was',
  event_missing: 'its event is gone',
  event_added: 'an event without an entry stands in its place',
  entry_changed: 'it says something else than its event',
  entry_missing: 'it is gone',
  hash_changed: 'its hashes are not those of the chain',
  head_differs: 'a kept head names another hash, so what is before it was made anew',
  head_not_signed: 'the signature of a kept head is not right',
  tail_missing: 'a kept head names a later entry than there is, so the end was cut off',
};

/** A kept head as the server takes it, `<audit_seq>:<hash>`, also out of the JSON that was shown; null where it is none. */
export function headIn(text: string): string | null {
  const hash = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/.exec(text)?.[0];
  const seq = /"audit_seq":\s*(\d+)/.exec(text)?.[1] ?? /^\s*(\d+):/.exec(text)?.[1];
  return hash && seq ? `${seq}:${hash}` : null;
}
