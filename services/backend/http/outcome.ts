/** Converts the outcome of a command to a response. */
import type { Refusal } from '#domain/kernel/decision.ts';
import { mustParse } from '#domain/kernel/ids.ts';
import type { Outcome } from '#domain/ports/commands.ts';
import { keyReused } from './idempotency.ts';
import { isProblem, notFound, problem, type Problem } from './problem.ts';
import { json, nothing, type Answer, type Reply } from './reply.ts';

export type Accepted = Extract<Outcome, { kind: 'accepted' }>;

/** Returns an accepted outcome unchanged, and converts any other outcome to a problem. */
export function accepted(outcome: Outcome): Accepted | Problem {
  switch (outcome.kind) {
    case 'accepted':
      return outcome;
    case 'refused':
      return refusalProblem(outcome.refusal);
    case 'mismatched':
      return keyReused;
  }
}

export function refusalProblem({ code, detail }: Refusal): Problem {
  return code === 'not_found' ? notFound : problem(code, detail);
}

/** The header with the position of the command's last event. */
export function positionHeader({ position }: Accepted): { readonly 'Orch-Position': string } {
  return { 'Orch-Position': String(position.globalPosition) };
}

/** The ID of the resource that a command wrote. For a repeated request, this is the ID that the first request
 *  created. */
export function writtenId<Id>({ streamId }: Accepted, parse: (text: string) => Id | undefined): Id {
  return mustParse(parse, streamId.slice(streamId.indexOf('-') + 1));
}

/** Responds with the resource that a command wrote, in its new state.
 *  @param read returns the body, or `undefined` if the resource does not exist
 *  @param collection the path of the collection if the command created the resource. The response is then 201 with
 *  `Location`. */
export async function writtenReply<Id extends string>(
  outcome: Outcome,
  parse: (text: string) => Id | undefined,
  read: (id: Id) => Promise<object | undefined>,
  collection?: string,
): Promise<Answer> {
  const done = accepted(outcome);
  if (isProblem(done)) return done;
  const id = writtenId(done, parse);
  const body = await read(id);
  if (body === undefined) return notFound;
  if (collection === undefined) return json(200, body, positionHeader(done));
  return json(201, body, { Location: `${collection}/${id}`, ...positionHeader(done) });
}

/** Responds with 204 and the recorded position, or with the problem. */
export function noContent(outcome: Outcome | Problem): Reply | Problem {
  const done = isProblem(outcome) ? outcome : accepted(outcome);
  return isProblem(done) ? done : nothing(204, positionHeader(done));
}
