/** The state of a client connection, which commands can change. */
import type { Credential } from './callers.ts';
import type { Protocol } from './resp/replies.ts';
import type { Request } from './resp/requests.ts';

/** A transaction: the commands that were queued since MULTI. */
export interface Transaction {
  readonly queued: Request[];
  /** The total size of the queued commands' arguments. */
  bytes: number;
  /** Whether a command could not be queued. In this case, EXEC refuses the transaction. */
  isBroken: boolean;
}

export interface Session {
  /** The connection ID, counted from 1. */
  readonly id: number;
  /** The client's IP address. */
  readonly ip: string;
  readonly port: number;
  readonly since: Date;
  protocol: Protocol;
  /** Undefined until the client has signed in. */
  credential: Credential | undefined;
  name: string;
  library: { name: string; version: string };
  readonly channels: Set<string>;
  readonly patterns: Set<string>;
  transaction: Transaction | undefined;
  /** Whether the connection will be closed after the current command. */
  isEnding: boolean;
}

export function newSession(id: number, ip: string, port: number, since: Date): Session {
  return {
    id,
    ip,
    port,
    since,
    protocol: 2,
    credential: undefined,
    name: '',
    library: { name: '', version: '' },
    channels: new Set(),
    patterns: new Set(),
    transaction: undefined,
    isEnding: false,
  };
}

/** Returns the client's name, which is shown as the runtime of its runs. */
export function workerName({ name, id }: Session): string {
  return `queue:${name === '' ? `client-${id}` : name}`;
}

export function subscriptionCount({ channels, patterns }: Session): number {
  return channels.size + patterns.size;
}

/** Resets the session to its state before authentication. */
export function resetSession(session: Session): void {
  session.channels.clear();
  session.patterns.clear();
  session.transaction = undefined;
  session.protocol = 2;
  session.credential = undefined;
  session.name = '';
}
