import { error } from '@sveltejs/kit';
import { ApiError, messageOf } from './api-error.ts';

/** Shows the error page with the status of a failed request in a `load` function. */
export function failPage(reason: unknown): never {
  if (reason instanceof ApiError) error(reason.status, messageOf(reason));
  if (reason instanceof TypeError)
    error(503, 'Could not reach the server. Check your connection and try again.');
  throw reason;
}
