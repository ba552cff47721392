/** Converts errors to problems. The text of an error is never sent. */
import { ObjectStoreFull, ObjectStoreUnavailable } from '#domain/ports/objects.ts';
import { isDatabaseAway } from '#infra/postgres/database-away.ts';
import { problem, type Problem } from '../problem.ts';
import { BodyTooLarge } from './body.ts';

const internal: Problem = problem(
  'internal_error',
  'An internal error occurred. See the log for details.',
);
const unavailable: Problem = problem(
  'unavailable',
  'A required service is unavailable. The request may not have been completed. Try again in a moment.',
);

/** The problem response for an error; `logged` states whether to log it. */
export function faultOf(error: unknown): { readonly problem: Problem; readonly logged: boolean } {
  if (error instanceof BodyTooLarge) {
    return {
      problem: problem('payload_too_large', 'The body exceeds the size limit.'),
      logged: false,
    };
  }
  if (error instanceof ObjectStoreFull) {
    return {
      problem: problem(
        'storage_full',
        'The server has too little storage space. Ask an administrator to free space.',
      ),
      logged: true,
    };
  }
  if (error instanceof ObjectStoreUnavailable || isDatabaseAway(error)) {
    return { problem: unavailable, logged: true };
  }
  if (error instanceof Error && 'status' in error && error.status === 400) {
    const detail = 'The URL contains an invalid percent-encoding.';
    return { problem: problem('invalid_parameter', detail), logged: false };
  }
  return { problem: internal, logged: true };
}
