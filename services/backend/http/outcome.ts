/** What became of a command, as an answer. */
import type { Refusal } from '#domain/kernel/decision.ts';
import type { Outcome } from '#domain/ports/commands.ts';
import { keyReused } from './idempotency.ts';
import { notFound, problem, type Problem } from './problem.ts';

export type Accepted = Extract<Outcome, { kind: 'accepted' }>;

/** The accepted outcome, or the problem to answer with. */
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

/** Where a reader must have got to in order to see the effect. */
export function positionHeader({ position }: Accepted): { readonly 'Orch-Position': string } {
  return { 'Orch-Position': String(position.globalPosition) };
}
