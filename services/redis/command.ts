/** What a command is. */
import type { Right } from '#domain/kernel/rights.ts';
import type { Caller } from './callers.ts';
import type { Reply } from './resp/replies.ts';
import type { Session } from './session.ts';

/** A reply that delivers a job: the command must know whether the client received it. */
export interface Handover {
  readonly kind: 'handover';
  readonly reply: Reply;
  /** A client that has not taken it by then is cut off. */
  readonly withinMs: number;
  /** Called once. @param sent whether the reply has left this process */
  readonly settle: (sent: boolean) => Promise<void>;
}

export type Answer = Reply | Handover;

export interface Call {
  readonly args: readonly Buffer[];
  readonly session: Session;
  /** Called by EXEC: blocking commands look once and do not wait. */
  readonly inTransaction: boolean;
  /** Aborted when the client has gone, or this process stops. */
  readonly signal: AbortSignal;
}

export interface MemberCall extends Call {
  /** With current permissions. */
  readonly caller: Caller;
}

interface Described {
  /** Lower case. */
  readonly name: string;
  /** As Redis counts, the name included; a negative one means at least so many. */
  readonly arity: number;
  readonly flags: readonly string[];
  /** Places of the first and the last key and the step between them; 0 for none. */
  readonly keys: readonly [number, number, number];
  /** Whether it is served in RESP2 while the connection is subscribed to something. */
  readonly whileSubscribed?: true;
  /** How a transaction treats it; otherwise it is queued. */
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

export function isHandover(answer: Answer): answer is Handover {
  return (
    typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'handover'
  );
}

export const noKeys = [0, 0, 0] as const;
export const oneKey = [1, 1, 1] as const;

/** Text of an argument; what is no UTF-8 becomes a sign that stands for it. */
export function textOf(argument: Buffer | undefined): string {
  return argument?.toString('utf8') ?? '';
}

export function upper(argument: Buffer | undefined): string {
  return textOf(argument).toUpperCase();
}
