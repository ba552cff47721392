/** Implements `Orch-Min-Position`, which makes a read include the client's earlier writes. */
import { positionReached } from '#infra/postgres/event-store/event-position.ts';
import type { Services } from '../services.ts';
import type { Operation } from './operation.ts';
import { problem, type Problem } from './problem.ts';

const header = 'Orch-Min-Position';

/** The pattern of valid positions. */
export const positionPattern = /^\d{1,15}$/;

/** Whether the operation accepts the header. */
export function takesMinPosition({ method, path }: Operation): boolean {
  return method === 'get' && path.startsWith('/api/v1/');
}

export interface PositionedRead {
  readonly operation: Operation;
  readonly header: (name: string) => string | undefined;
  readonly gone: () => AbortSignal;
}

/** Waits until the projections of the operation have reached the requested position, if there is one.
 *  @returns the problem with a malformed position, or with a position that is not reached in time */
export async function awaitMinPosition(
  { operation, header: valueOf, gone }: PositionedRead,
  { database, positionTimeoutMs }: Pick<Services, 'database' | 'positionTimeoutMs'>,
): Promise<Problem | undefined> {
  const text = takesMinPosition(operation) ? valueOf(header) : undefined;
  if (text === undefined) return undefined;
  if (!positionPattern.test(text)) {
    return problem(
      'invalid_parameter',
      `${header} must be the value of the Orch-Position header in the response to a write.`,
    );
  }
  const reached = await positionReached(database, {
    globalPosition: Number(text),
    readers: operation.readsBehind ?? [],
    timeoutMs: positionTimeoutMs,
    gone: gone(),
  });
  return reached
    ? undefined
    : problem(
        'unavailable',
        'This view has not caught up with the requested position. Try again in a moment.',
      );
}
