/** Refused requests, each in its own stream `refusal-<id>`, so that the audit trail records attempts as well as
 *  changes. Permanent. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RefusalId } from '#domain/kernel/ids.ts';

export type RequestRefused = DomainEvent<
  'RequestRefused',
  {
    readonly refusalId: RefusalId;
    /** The attempted operation, such as `POST /api/v1/scripts/{id}/run`; never contains a token. */
    readonly operation: string;
    /** The requested resource, if the request named one. */
    readonly resource: string | null;
    readonly code: string;
    readonly status: number;
    /** The number of refused requests that this event represents; above 1 if requests arrived too fast to record
     *  each. */
    readonly count: number;
  }
>;

export type RefusalEvent = RequestRefused;
