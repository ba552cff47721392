/** Implements `?at=`, which reads as of a point in time. */
import { positionIssued } from '#infra/postgres/event-store/event-position.ts';
import type { Moment } from '#infra/postgres/event-store/streams-at.ts';
import Type from 'typebox';
import type { Services } from '../services.ts';
import { problem, type Problem } from './problem.ts';
import { examples } from './schema.ts';
import { isTime } from './validation.ts';

/** The `at` query parameter of endpoints that support reads as of a point in time. */
export const atParameter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 40,
    description:
      'A point in time: a timestamp (RFC 3339) or the global position of an event. Shows the state immediately after that point. Returns 404 if the resource did not exist, and 400 for a time or position in the future.',
    examples: [examples.time, '412'],
  }),
);

/** A sentence in the description of each read that supports `?at=`. */
export const aboutCurrentGroups =
  'Access depends on the current groups and memberships, not on those at the requested time.';

/** Parses a point in time.
 *  @returns a problem if it is invalid or in the future */
export async function momentOf(
  text: string,
  { clock, database }: Pick<Services, 'clock' | 'database'>,
): Promise<Moment | Problem> {
  if (/^\d{1,15}$/.test(text)) {
    const position = Number(text);
    if (await positionIssued(database, position)) return { kind: 'position', position };
    return problem('invalid_parameter', 'The parameter "at" is a position in the future.');
  }
  if (!isTime(text)) {
    const detail =
      'The parameter "at" must be a time (RFC 3339) or the global position of an event.';
    return problem('invalid_parameter', detail);
  }
  const time = new Date(text);
  if (time <= clock.now()) return { kind: 'time', time };
  return problem('invalid_parameter', 'The parameter "at" must not be in the future.');
}
