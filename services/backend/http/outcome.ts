/** Converts the outcome of a command to a response. */
import type { Refusal } from '#domain/kernel/decision.ts';
import type { Outcome } from '#domain/ports/commands.ts';
import { keyReused } from './idempotency.ts';
import { isProblem, notFound, problem, type Problem } from './problem.ts';
import { nothing, type Reply } from './reply.ts';

export type Accepted = Extract<Outcome, { kind: 'accepted' }>;

/** The accepted outcome, or the problem. */
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

/** The position that includes the effect. */
export function positionHeader({ position }: Accepted): { readonly 'Orch-Position': string } {
  return { 'Orch-Position': String(position.globalPosition) };
}

/** 204 with the recorded position, or the problem. */
export function noContent(outcome: Outcome | Problem): Reply | Problem {
  const done = isProblem(outcome) ? outcome : accepted(outcome);
  return isProblem(done) ? done : nothing(204, positionHeader(done));
}
