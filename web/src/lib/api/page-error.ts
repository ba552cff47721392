import { error } from '@sveltejs/kit';
import { ApiError, messageOf } from './api-error.ts';

/** Turns a failed request of a `load` into the error page with the same status. */
export function failPage(reason: unknown): never {
  if (reason instanceof ApiError) error(reason.status, messageOf(reason));
  if (reason instanceof TypeError)
    error(503, 'Could not reach the server. Check your connection and try again.');
  throw reason;
}
