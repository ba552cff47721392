import type { Problem } from './types.ts';

/** An API error response: RFC 9457 problem details, or substitute details if the response has none. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: Problem;
  /** The number of seconds in `Retry-After`, or null. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, problem: Problem, retryAfterSeconds: number | null) {
    super(problem.detail || problem.title);
    this.name = 'ApiError';
    this.status = status;
    this.code = problem.code;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Returns the error message for the body field at a JSON pointer such as `/name`.
   *  @param inside whether to include errors inside the field, such as in a list item */
  fieldError(pointer: string, inside = false): string | undefined {
    const errors = this.problem.errors ?? [];
    const nested = errors.find((error) => inside && error.pointer.startsWith(`${pointer}/`));
    return errors.find((error) => error.pointer === pointer)?.detail ?? nested?.detail;
  }
}

/** Reads the problem details of an error response. For a response in another format, such as a proxy's HTML page, it
 *  returns generic details. */
export async function readApiError(response: Response): Promise<ApiError> {
  const fallback: Problem = {
    type: 'about:blank',
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
    detail: '',
    code: `http_${response.status}`,
    trace_id: '',
  };
  const body: unknown = await response.json().catch(() => null);
  const problem = isProblem(body) ? body : fallback;
  return new ApiError(response.status, problem, retryAfterSeconds(response.headers));
}

/** Returns the message to show for any error. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return withTrace(error);
  if (error instanceof TypeError)
    return 'Could not reach the server. Check your connection and try again.';
  return error instanceof Error ? error.message : 'Something went wrong.';
}

function withTrace(error: ApiError): string {
  const details = error.problem.errors?.map(detailWithField).join(' ');
  const text = details || error.message;
  return error.status >= 500 && error.problem.trace_id
    ? `${text} (trace ${error.problem.trace_id})`
    : text;
}

/** If the detail is a phrase such as "must be <= 7", prefixes it with the field name as the subject. */
function detailWithField({ pointer, detail }: { pointer: string; detail: string }): string {
  const isSentence = detail.endsWith('.');
  const field = pointer.split('/').at(-1);
  return isSentence || !field ? detail : `${field} ${detail}.`;
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'title' in body && 'code' in body;
}

function retryAfterSeconds(headers: Headers): number | null {
  const value = Number(headers.get('retry-after'));
  return Number.isFinite(value) && value > 0 ? value : null;
}
