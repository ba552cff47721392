/** What is said when a request is turned away: RFC 9457, one table from code to status. */
import type { RefusalCode } from '#domain/kernel/decision.ts';
import type { Fault } from '#services/shared/faults.ts';

/** Codes that only the HTTP edge gives; the others are the domain's. */
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
  | 'storage_full'
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

/** The one place where a code gets its status. */
export const problemKinds: Readonly<Record<ProblemCode, Kind>> = {
  already_exists: { status: 409, title: 'It exists already' },
  backup_damaged: { status: 422, title: 'The backup is damaged' },
  backup_in_use: { status: 409, title: 'The backup is in use' },
  backup_newer: { status: 409, title: 'The backup is of a newer version' },
  backup_not_complete: { status: 409, title: 'The backup is not complete' },
  channel_in_use: { status: 409, title: 'The channel is in use' },
  concurrency_limit_reached: { status: 409, title: 'The concurrency limit is reached' },
  content_removed: { status: 410, title: 'The content is kept no longer' },
  forbidden: { status: 403, title: 'Your role does not allow this' },
  group_in_use: { status: 409, title: 'The group is in use' },
  idempotency_in_progress: { status: 409, title: 'The first request is still under way' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used before' },
  internal_error: { status: 500, title: 'Internal error' },
  invalid_cursor: { status: 400, title: 'The cursor is not of this list' },
  invalid_parameter: { status: 400, title: 'A parameter is not valid' },
  invalid_path: { status: 422, title: 'The path cannot be used' },
  last_administrator: { status: 409, title: 'Somebody has to administer' },
  last_file: { status: 409, title: 'The last file stays' },
  invalid_signature: { status: 401, title: 'The signature does not hold' },
  malformed_json: { status: 400, title: 'The body is not JSON' },
  method_not_allowed: { status: 405, title: 'The method is not allowed' },
  not_found: { status: 404, title: 'Not found' },
  params_removed: { status: 409, title: 'The parameters are no longer kept' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  restore_by_operator: { status: 409, title: 'An operator restores it' },
  rate_limited: { status: 429, title: 'Too many requests' },
  run_fenced: { status: 409, title: 'The run belongs to another runtime' },
  run_not_active: { status: 409, title: 'The run is not active' },
  run_overlaps: { status: 409, title: 'The run before is active still' },
  script_not_deleted: { status: 409, title: 'The script is not deleted' },
  script_purged: { status: 409, title: 'The script has been purged' },
  script_disabled: { status: 409, title: 'The script is disabled' },
  session_closed: { status: 401, title: 'The session has ended' },
  storage_full: { status: 507, title: 'No room to store this' },
  storage_quota_exceeded: { status: 413, title: 'The storage quota is exceeded' },
  unauthenticated: { status: 401, title: 'Not signed in' },
  unavailable: { status: 503, title: 'A dependency is down' },
  unsupported_media_type: { status: 415, title: 'The content type is not served' },
  update_in_progress: { status: 409, title: 'An update is under way' },
  update_not_possible: { status: 409, title: 'The update is not possible' },
  update_refused: { status: 409, title: 'The update cannot be trusted' },
  update_source_not_configured: { status: 409, title: 'No repository is set' },
  upgrade_required: { status: 426, title: 'A WebSocket handshake is required' },
  user_disabled: { status: 401, title: 'The account is disabled' },
  validation_failed: { status: 422, title: 'The content is not valid' },
  webhook_disabled: { status: 409, title: 'The webhook is disabled' },
  version_mismatch: { status: 412, title: 'It has changed since it was read' },
};

/** A request that is turned away. */
export interface Problem {
  readonly kind: 'problem';
  readonly code: ProblemCode;
  /** One sentence for the person who asked. */
  readonly detail: string;
  readonly errors?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Stream id of what it was tried on, where the path does not say. */
  readonly resource?: string;
}

export function problem(
  code: ProblemCode,
  detail: string,
  more: Pick<Problem, 'errors' | 'headers' | 'resource'> = {},
): Problem {
  return { kind: 'problem', code, detail, ...more };
}

/** What every unknown id and every resource of other groups is answered, word for word the same. */
export const notFound: Problem = problem('not_found', 'There is nothing here that you may see.');

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'problem';
}

/** The body of the answer. */
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

/** The problem of a path that exists, asked with a method that it does not support.
 *  @param methods those of its operations, in lower case */
export function methodNotAllowed(methods: Iterable<string>): Problem {
  const upper = [...new Set(methods)].map((method) => method.toUpperCase());
  const allowed = upper.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const detail = `This path does not support the method. Use ${allowed.join(', ')}.`;
  return problem('method_not_allowed', detail, { headers: { Allow: allowed.join(', ') } });
}

/** Headers that belong to the status, whoever made the problem. */
export function problemHeaders({ code, headers }: Problem): Readonly<Record<string, string>> {
  const { status } = problemKinds[code];
  return {
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(status === 503 && { 'Retry-After': '2' }),
    ...headers,
  };
}

export function badField(name: string, detail: string): Problem {
  return problem('validation_failed', `The field "${name}" is not valid: ${detail}.`, {
    errors: [{ pointer: `/${name}`, detail }],
  });
}
