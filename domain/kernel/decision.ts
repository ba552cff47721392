/** The result of deciding a command: either events to record, or a refusal. Deciding a command never throws. */

/** Stable refusal codes of the API. The HTTP layer maps each code to a status. */
export const refusalCodes = [
  'already_exists',
  'approval_not_pending',
  'approval_outdated',
  'approval_pending',
  'approval_required',
  'backup_in_use',
  'backup_not_complete',
  'calendar_in_use',
  'channel_in_use',
  'concurrency_limit_reached',
  'forbidden',
  'group_in_use',
  'pool_full',
  'pool_in_use',
  'secret_store_in_use',
  'invalid_path',
  'last_administrator',
  'last_file',
  'managed_by_repository',
  'not_found',
  'payload_too_large',
  'run_fenced',
  'run_not_active',
  'run_overlaps',
  'script_disabled',
  'script_not_deleted',
  'script_purged',
  'session_closed',
  'storage_quota_exceeded',
  'update_in_progress',
  'update_not_possible',
  'update_refused',
  'user_disabled',
  'validation_failed',
  'version_mismatch',
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

export interface Refusal {
  readonly code: RefusalCode;
  /** A sentence that tells the user why the command was refused. */
  readonly detail: string;
}

export type Decision<Event> =
  | { readonly kind: 'accepted'; readonly events: readonly Event[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export function accept<Event>(...events: Event[]): Decision<Event> {
  return { kind: 'accepted', events };
}

export function refuse(code: RefusalCode, detail: string): Decision<never> {
  return { kind: 'refused', refusal: { code, detail } };
}
