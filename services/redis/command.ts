/** The type of a command. */
import type { Right } from '#domain/kernel/rights.ts';
import type { Caller } from './callers.ts';
import type { Reply } from './resp/replies.ts';
import type { Session } from './session.ts';

/** A reply that delivers a job. `settle` is then called with the result of the delivery. */
export interface JobDelivery {
  readonly kind: 'delivery';
  readonly reply: Reply;
  /** How long the delivery may take. A client that has not received the reply by then is disconnected. */
  readonly withinMs: number;
  /** Called once. @param sent whether the reply has left this process */
  readonly settle: (sent: boolean) => Promise<void>;
}

export type Answer = Reply | JobDelivery;

export interface Call {
  readonly args: readonly Buffer[];
  readonly session: Session;
  /** Whether EXEC calls the command. Blocking commands then check once and do not wait. */
  readonly inTransaction: boolean;
  /** Aborted when the client has disconnected, or this process stops. */
  readonly signal: AbortSignal;
}

export interface MemberCall extends Call {
  /** The caller, with its current permissions. */
  readonly caller: Caller;
}

interface Described {
  /** The name in lower case. */
  readonly name: string;
  /** The number of arguments, including the command's name, as in Redis. A negative number is a minimum. */
  readonly arity: number;
  readonly flags: readonly string[];
  /** The positions of the first and the last key, and the step between keys; 0 if there are no keys. */
  readonly keys: readonly [number, number, number];
  /** Whether the command is permitted while a connection with RESP2 has subscriptions. */
  readonly whileSubscribed?: true;
  /** How the command behaves in a transaction. By default, it is queued. */
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

/** Text of an argument; invalid UTF-8 is replaced. */
export function textOf(argument: Buffer | undefined): string {
  return argument?.toString('utf8') ?? '';
}

export function upper(argument: Buffer | undefined): string {
  return textOf(argument).toUpperCase();
}
