/** Types for the implementation of Redis commands. */
import type { Right } from '#domain/kernel/rights.ts';
import type { Caller } from './callers.ts';
import type { Reply } from './resp/replies.ts';
import type { Session } from './session.ts';

/** A reply that delivers a job. `settle` is called once the delivery has succeeded or failed. */
export interface JobDelivery {
  readonly kind: 'delivery';
  readonly reply: Reply;
  /** The time limit for the delivery, after which the client is disconnected. */
  readonly withinMs: number;
  /** Called once after the delivery. @param sent whether the reply has left this process */
  readonly settle: (sent: boolean) => Promise<void>;
}

export type Answer = Reply | JobDelivery;

export interface Call {
  readonly args: readonly Buffer[];
  readonly session: Session;
  /** Whether EXEC is executing the command. A blocking command then checks once without waiting. */
  readonly inTransaction: boolean;
  /** Aborted when the client disconnects or this process stops. */
  readonly signal: AbortSignal;
}

export interface MemberCall extends Call {
  /** The authenticated caller, with its current permissions. */
  readonly caller: Caller;
}

interface Described {
  /** The command name in lowercase. */
  readonly name: string;
  /** As in Redis, the number of arguments including the command name. A negative number is a minimum. */
  readonly arity: number;
  readonly flags: readonly string[];
  /** The positions of the first and last key, and the step between keys. All are 0 if the command takes no keys. */
  readonly keys: readonly [number, number, number];
  /** Whether a RESP2 connection with subscriptions may use the command. */
  readonly whileSubscribed?: true;
  /** The behavior of the command in a transaction. By default, the command is queued. */
  readonly transaction?: 'immediate' | 'refused';
}

export type Command = Described &
  (
    | {
        readonly access: 'anyone' | 'member';
        readonly run: (call: Call) => Answer | Promise<Answer>;
      }
    | { readonly access: Right; readonly run: (call: MemberCall) => Answer | Promise<Answer> }
  );

export function isJobDelivery(answer: Answer): answer is JobDelivery {
  return (
    typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'delivery'
  );
}

export const noKeys = [0, 0, 0] as const;
export const oneKey = [1, 1, 1] as const;

/** Converts an argument to text. Invalid UTF-8 is replaced. */
export function textOf(argument: Buffer | undefined): string {
  return argument?.toString('utf8') ?? '';
}

export function upper(argument: Buffer | undefined): string {
  return textOf(argument).toUpperCase();
}
