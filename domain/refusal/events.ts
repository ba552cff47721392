/** Refused requests, each in its own stream `refusal-<id>`. These events make failed attempts visible in the audit
 *  trail. Permanent: never rename a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RefusalId } from '#domain/kernel/ids.ts';

export type RequestRefused = DomainEvent<
  'RequestRefused',
  {
    readonly refusalId: RefusalId;
    /** The attempted operation, such as `POST /api/v1/scripts/{id}/run`. Never contains a token. */
    readonly operation: string;
    /** The requested resource, if the request specified one. */
    readonly resource: string | null;
    readonly code: string;
    readonly status: number;
    /** The number of refused requests that this event represents. Greater than 1 if requests arrived too fast to
     *  record each of them. */
    readonly count: number;
  }
>;

export type RefusalEvent = RequestRefused;
