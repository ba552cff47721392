/** The type of a command. */
import type { Right } from '#domain/kernel/rights.ts';
import type { Caller } from './callers.ts';
import type { Reply } from './resp/replies.ts';
import type { Session } from './session.ts';

/** A reply that delivers a job: the command must know whether the client received it. */
export interface JobDelivery {
  readonly kind: 'delivery';
  readonly reply: Reply;
  /** The deadline for the delivery. A client that has not received the reply by then is disconnected. */
  readonly withinMs: number;
  /** Called once. @param sent whether the reply has left this process */
  readonly settle: (sent: boolean) => Promise<void>;
}

export type Answer = Reply | JobDelivery;

export interface Call {
  readonly args: readonly Buffer[];
  readonly session: Session;
  /** Called by EXEC: blocking commands check once and do not wait. */
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
  /** As in Redis, including the name; a negative number is a minimum. */
  readonly arity: number;
  readonly flags: readonly string[];
  /** Positions of the first and last key, and the step between them; 0 for none. */
  readonly keys: readonly [number, number, number];
  /** Whether the command is permitted in RESP2 while the connection has subscriptions. */
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
