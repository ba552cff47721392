/** Reasons for closing sockets (contract §3, "WebSocket"). */
import type { ProblemCode } from '../http/problem.ts';

export interface Ending {
  /** WebSocket close code. */
  readonly close: 4401 | 4403 | 4404;
  readonly reason: string;
  /** The problem code of the corresponding API response. */
  readonly code: ProblemCode;
}

export const endings = {
  unauthenticated: { close: 4401, code: 'unauthenticated', reason: 'sign in' },
  sessionEnded: {
    close: 4401,
    code: 'unauthenticated',
    reason: 'the session has ended or the token is no longer valid',
  },
  forbidden: { close: 4403, code: 'forbidden', reason: 'the role does not allow this' },
  factorMissing: {
    close: 4403,
    code: 'second_factor_missing',
    reason: 'the role requires a second factor',
  },
  unknownScript: { close: 4404, code: 'not_found', reason: 'script not found' },
  unknownRun: { close: 4404, code: 'not_found', reason: 'run not found' },
} as const satisfies Record<string, Ending>;
