/** Sends a POST request to a URL that a user configured. */
import { beginningOf, send } from './send.ts';
import type { Targets } from './targets.ts';

/** The maximum number of bytes to read from a response. */
const maxAnswerBytes = 4096;

export interface Posted {
  readonly status: number;
  /** The beginning of the response body. */
  readonly text: string;
  readonly retryAfterSeconds: number | null;
  /** The target of a redirect, which is not followed. */
  readonly location: string | undefined;
}

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param signal aborts the request at any stage
 *  @throws TargetRefused, or the error of the connection */
export async function post(request: Post, targets: Targets, signal: AbortSignal): Promise<Posted> {
  const response = await send({ method: 'POST', ...request }, targets, signal);
  const { statusCode: status = 0, headers: answered } = response;
  return {
    status,
    text: await beginningOf(response, maxAnswerBytes),
    retryAfterSeconds: secondsOf(answered['retry-after']),
    location: answered.location,
  };
}

function secondsOf(retryAfter: string | undefined): number | null {
  return retryAfter !== undefined && /^\d{1,7}$/.test(retryAfter) ? Number(retryAfter) : null;
}
