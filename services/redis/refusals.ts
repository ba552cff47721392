/** Records refused commands in the audit trail. */
import type { RefusalCode } from '#domain/kernel/decision.ts';
import type { Ids } from '#domain/ports/ids.ts';
import type { RefusalRecorder } from '#services/shared/refusals.ts';
import type { Caller } from './callers.ts';
import { failure, type ErrorReply } from './resp/replies.ts';
import type { Session } from './session.ts';

export type Code = RefusalCode | 'unauthenticated' | 'unavailable';

export interface RefusedCommand {
  readonly session: Session;
  /** Undefined if the client could not sign in. */
  readonly caller: Caller | undefined;
  /** The command name. */
  readonly name: string;
  readonly code: Code;
  /** The stream ID of the affected resource, or null. */
  readonly resource: string | null;
}

/** The HTTP statuses of the same refusals in the REST API, which the audit trail shows. */
const statuses: Partial<Readonly<Record<Code, number>>> = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  payload_too_large: 413,
  validation_failed: 422,
  unavailable: 503,
};
const conflict = 409;

/** The error prefixes that client libraries handle specially. Other errors have the general prefix. */
const prefixes: Partial<Readonly<Record<Code, string>>> = {
  unauthenticated: 'WRONGPASS ',
  forbidden: 'NOPERM ',
};

export class Refusals {
  readonly #recorder: Pick<RefusalRecorder, 'note'>;
  readonly #ids: Ids;

  constructor(recorder: Pick<RefusalRecorder, 'note'>, ids: Ids) {
    this.#recorder = recorder;
    this.#ids = ids;
  }

  /** Records a refusal. @returns the error reply */
  refused({ session, caller, name, code, resource }: RefusedCommand, detail: string): ErrorReply {
    this.#recorder.note({
      operation: `queue ${name.toUpperCase()}`,
      resource,
      code,
      status: statuses[code] ?? conflict,
      actor: caller?.actor ?? { kind: 'anonymous' },
      ip: session.ip,
      correlationId: this.#ids.next(),
    });
    return failure(`${prefixes[code] ?? `ERR ${code}: `}${detail}`);
  }
}
