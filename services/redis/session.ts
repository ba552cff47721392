/** The state of a connection. Commands change it. */
import type { Credential } from './callers.ts';
import type { Protocol } from './resp/replies.ts';
import type { Request } from './resp/requests.ts';

/** A transaction, with the commands that MULTI has queued for EXEC. */
export interface Transaction {
  readonly queued: Request[];
  /** The size of all arguments of the queued commands. */
  bytes: number;
  /** Whether a command could not be queued. EXEC is then refused. */
  isBroken: boolean;
}

export interface Session {
  /** The ID of the connection, counting up from 1. */
  readonly id: number;
  /** Address of the client. */
  readonly ip: string;
  readonly port: number;
  readonly since: Date;
  protocol: Protocol;
  /** Absent until the client has signed in. */
  credential: Credential | undefined;
  name: string;
  library: { name: string; version: string };
  readonly channels: Set<string>;
  readonly patterns: Set<string>;
  transaction: Transaction | undefined;
  /** Whether the connection closes after the current command. */
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

/** The name of the client, shown as the runtime of its runs. */
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
