/** Problem responses (RFC 9457), with the status of each code. */
import type { RefusalCode } from '#domain/kernel/decision.ts';
import type { Fault } from '#services/shared/faults.ts';

/** Codes that only the HTTP layer uses. The domain defines the others. */
type EdgeCode =
  | 'backup_damaged'
  | 'backup_newer'
  | 'content_removed'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused'
  | 'internal_error'
  | 'invalid_cursor'
  | 'invalid_parameter'
  | 'invalid_signature'
  | 'malformed_json'
  | 'method_not_allowed'
  | 'params_removed'
  | 'rate_limited'
  | 'restore_by_operator'
  | 'second_factor_missing'
  | 'second_factor_required'
  | 'storage_full'
  | 'sync_failed'
  | 'sync_in_progress'
  | 'unauthenticated'
  | 'unavailable'
  | 'unsupported_media_type'
  | 'update_source_not_configured'
  | 'upgrade_required'
  | 'webhook_disabled';

export type ProblemCode = RefusalCode | EdgeCode;

interface Kind {
  readonly status: number;
  readonly title: string;
}

/** The status of each code. */
export const problemKinds: Readonly<Record<ProblemCode, Kind>> = {
  already_exists: { status: 409, title: 'Already exists' },
  approval_not_pending: { status: 409, title: 'Approval not pending' },
  approval_outdated: { status: 409, title: 'Approval outdated' },
  approval_pending: { status: 409, title: 'Approval pending' },
  approval_required: { status: 409, title: 'Approval required' },
  backup_damaged: { status: 422, title: 'Backup damaged' },
  backup_in_use: { status: 409, title: 'Backup in use' },
  backup_newer: { status: 409, title: 'Backup from a newer version' },
  backup_not_complete: { status: 409, title: 'Backup not complete' },
  channel_in_use: { status: 409, title: 'Channel in use' },
  concurrency_limit_reached: { status: 409, title: 'Concurrency limit reached' },
  content_removed: { status: 410, title: 'Content removed by retention' },
  forbidden: { status: 403, title: 'Forbidden' },
  managed_by_repository: { status: 409, title: 'Managed by a Git repository' },
  calendar_in_use: { status: 409, title: 'Calendar in use' },
  pool_full: { status: 409, title: 'Pool full' },
  secret_store_in_use: { status: 409, title: 'Secret store in use' },
  pool_in_use: { status: 409, title: 'Pool in use' },
  group_in_use: { status: 409, title: 'Group in use' },
  idempotency_in_progress: { status: 409, title: 'The first request is still in progress' },
  idempotency_key_reused: { status: 422, title: 'Idempotency key already used' },
  internal_error: { status: 500, title: 'Internal error' },
  invalid_cursor: { status: 400, title: 'Invalid cursor' },
  invalid_parameter: { status: 400, title: 'Invalid parameter' },
  invalid_path: { status: 422, title: 'Invalid path' },
  last_administrator: { status: 409, title: 'At least one administrator is required' },
  last_file: { status: 409, title: 'The last file cannot be deleted' },
  invalid_signature: { status: 401, title: 'Invalid signature' },
  malformed_json: { status: 400, title: 'Malformed JSON' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_found: { status: 404, title: 'Not found' },
  params_removed: { status: 409, title: 'Parameters removed by retention' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  restore_by_operator: { status: 409, title: 'Restore requires an operator' },
  rate_limited: { status: 429, title: 'Too many requests' },
  run_fenced: { status: 409, title: 'Run claimed by another runtime' },
  run_not_active: { status: 409, title: 'Run not active' },
  run_overlaps: { status: 409, title: 'Previous run still active' },
  script_not_deleted: { status: 409, title: 'Script not deleted' },
  script_purged: { status: 409, title: 'Script purged' },
  script_disabled: { status: 409, title: 'Script disabled' },
  second_factor_missing: { status: 403, title: 'Second factor not enabled' },
  second_factor_required: { status: 401, title: 'Second factor required' },
  session_closed: { status: 401, title: 'Session ended' },
  storage_full: { status: 507, title: 'Not enough storage' },
  storage_quota_exceeded: { status: 413, title: 'Storage quota exceeded' },
  unauthenticated: { status: 401, title: 'Not signed in' },
  unavailable: { status: 503, title: 'Service unavailable' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  update_in_progress: { status: 409, title: 'Update in progress' },
  update_not_possible: { status: 409, title: 'Update not possible' },
  sync_failed: { status: 422, title: 'Sync failed' },
  sync_in_progress: { status: 409, title: 'Sync in progress' },
  update_refused: { status: 409, title: 'Update not trusted' },
  update_source_not_configured: { status: 409, title: 'No update repository configured' },
  upgrade_required: { status: 426, title: 'WebSocket handshake required' },
  user_disabled: { status: 401, title: 'Account disabled' },
  validation_failed: { status: 422, title: 'Validation failed' },
  webhook_disabled: { status: 409, title: 'Webhook disabled' },
  version_mismatch: { status: 412, title: 'Changed since it was read' },
};

/** The reason for a refused request. */
export interface Problem {
  readonly kind: 'problem';
  readonly code: ProblemCode;
  /** A sentence that explains the problem to the user. */
  readonly detail: string;
  readonly errors?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Stream ID of the affected resource, if the path does not contain it. */
  readonly resource?: string;
  /** The URL to which a navigating browser is redirected instead of receiving the problem document. */
  readonly redirectTo?: string;
  /** Whether the audit trail omits the response, because nothing was denied. */
  readonly isExpected?: boolean;
}

export function problem(
  code: ProblemCode,
  detail: string,
  more: Pick<Problem, 'errors' | 'headers' | 'resource' | 'redirectTo' | 'isExpected'> = {},
): Problem {
  return { kind: 'problem', code, detail, ...more };
}

/** The response for unknown IDs and for resources of other groups, so that callers cannot distinguish them. */
export const notFound: Problem = problem(
  'not_found',
  'The resource does not exist, or you do not have access to it.',
);

/** The response for a deleted resource that the caller was permitted to see. The dashboard then offers to restore
 *  it. */
export const deletedResource: Problem = { ...notFound, isExpected: true };

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'problem';
}

/** The response body. */
export function problemDocument({ code, detail, errors }: Problem, traceId: string) {
  const { status, title } = problemKinds[code];
  return {
    type: `urn:orchestrator:problem:${code}`,
    title,
    status,
    detail,
    code,
    trace_id: traceId,
    ...(errors !== undefined && { errors }),
  };
}

/** The response to an unsupported method.
 *  @param methods supported methods, in lower case */
export function methodNotAllowed(methods: Iterable<string>): Problem {
  const upper = [...new Set(methods)].map((method) => method.toUpperCase());
  const allowed = upper.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const detail = `This path does not support this method. Supported methods: ${allowed.join(', ')}.`;
  return problem('method_not_allowed', detail, { headers: { Allow: allowed.join(', ') } });
}

/** The headers that the problem's status requires. */
export function problemHeaders({ code, headers }: Problem): Readonly<Record<string, string>> {
  const { status } = problemKinds[code];
  return {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(status === 503 && { 'Retry-After': '2' }),
    ...headers,
  };
}

/** The problem with a field. @param reason a clause, such as `a port is listed twice` */
export function badField(name: string, reason: string): Problem {
  return problem('validation_failed', `The field "${name}" is not valid: ${reason}.`, {
    errors: [{ pointer: `/${name}`, detail: reason }],
  });
}

/** The problem with a field. @param detail continues the sentence, such as `is required` */
export function fieldProblem(name: string, detail: string): Problem {
  return problem('validation_failed', `The field "${name}" ${detail}.`, {
    errors: [{ pointer: `/${name}`, detail }],
  });
}
