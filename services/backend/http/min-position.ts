/** `Orch-Min-Position`: a read that is to see at least what a write answered with. */
import { positionReached } from '#infra/postgres/event-store/event-position.ts';
import type { Services } from '../services.ts';
import type { Operation } from './operation.ts';
import { problem, type Problem } from './problem.ts';

const header = 'Orch-Min-Position';

/** What its value has to match. */
export const positionPattern = /^\d{1,15}$/;

/** Whether reads of this kind can be asked to wait. */
export function takesMinPosition({ method, path }: Operation): boolean {
  return method === 'get' && path.startsWith('/api/v1/');
}

export interface PositionedRead {
  readonly operation: Operation;
  readonly header: (name: string) => string | undefined;
  readonly gone: () => AbortSignal;
}

/** Waits until the read sees the position that it names; at once where it names none.
 *  @returns the problem to answer with: a malformed position, or one that does not come in time */
export async function awaitMinPosition(
  { operation, header: valueOf, gone }: PositionedRead,
  { database, positionPatienceMs }: Pick<Services, 'database' | 'positionPatienceMs'>,
): Promise<Problem | undefined> {
  const text = takesMinPosition(operation) ? valueOf(header) : undefined;
  if (text === undefined) return undefined;
  if (!positionPattern.test(text)) {
    return problem(
      'invalid_parameter',
      `${header} must be a number returned by a write as Orch-Position.`,
    );
  }
  const reached = await positionReached(database, {
    globalPosition: Number(text),
    readers: operation.readsBehind ?? [],
    patienceMs: positionPatienceMs,
    gone: gone(),
  });
  return reached
    ? undefined
    : problem(
        'unavailable',
        'This view has not caught up with the requested position. Try again in a moment.',
      );
}
