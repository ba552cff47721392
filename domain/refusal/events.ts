/** Requests that were turned away, each in a stream `refusal-<id>` of its own, so that the audit trail
 *  holds what was tried as well as what was done. Stored for good. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RefusalId } from '#domain/kernel/ids.ts';

export type RequestRefused = DomainEvent<
  'RequestRefused',
  {
    readonly refusalId: RefusalId;
    /** What was tried, such as `POST /api/v1/scripts/{id}/run`; never with a token in it. */
    readonly operation: string;
    /** What it was tried on, where the request named it. */
    readonly resource: string | null;
    readonly code: string;
    readonly status: number;
    /** How many such requests this stands for; above 1 where they came too fast to keep each. */
    readonly count: number;
  }
>;

export type RefusalEvent = RequestRefused;
