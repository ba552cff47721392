/**
 * One-time WebSocket tickets, for clients that can send a token only in the URL. URLs end up in logs, but a used ticket
 * is invalid.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mustParse, parseSessionId, type SessionId } from '#domain/kernel/ids.ts';
import type { Queryable } from '../database.ts';

export const ticketSeconds = 30;
/** Maximum number of open tickets per session. When the limit is reached, a new ticket replaces the oldest. */
const maxOpen = 20;

const statements = {
  // Uses the database clock, because another backend may have issued the ticket.
  issue: `WITH trimmed AS (
      DELETE FROM ws_tickets WHERE ticket_sha256 IN (
        SELECT ticket_sha256 FROM ws_tickets WHERE session_id = $2
        ORDER BY expires_at DESC OFFSET ${maxOpen - 1}))
    INSERT INTO ws_tickets (ticket_sha256, session_id, expires_at)
    VALUES ($1, $2, now() + interval '${ticketSeconds} seconds') RETURNING expires_at`,
  redeem: `DELETE FROM ws_tickets WHERE ticket_sha256 = $1
    RETURNING session_id, expires_at > now() AS good`,
  purge: `DELETE FROM ws_tickets WHERE ticket_sha256 IN (
    SELECT ticket_sha256 FROM ws_tickets WHERE expires_at <= now() ORDER BY expires_at LIMIT 1000)`,
};

export interface WsTicket {
  readonly ticket: string;
  readonly expiresAt: Date;
}

/** Creates a ticket for a session. Only the ticket's hash is stored. */
export async function issueTicket(db: Queryable, sessionId: SessionId): Promise<WsTicket> {
  const ticket = randomBytes(32).toString('base64url');
  const values = [hashOf(ticket), sessionId];
  const { rows } = await db.query<{ expires_at: Date }>(statements.issue, values);
  if (rows[0] === undefined) throw new Error('a ticket was not stored');
  return { ticket, expiresAt: rows[0].expires_at };
}

/** Redeems a ticket.
 *  @returns its session, or `undefined` if the ticket is not valid */
export async function redeemTicket(db: Queryable, ticket: string): Promise<SessionId | undefined> {
  const { rows } = await db.query<{ session_id: string; good: boolean }>(statements.redeem, [
    hashOf(ticket),
  ]);
  const [row] = rows;
  return row?.good === true ? mustParse(parseSessionId, row.session_id) : undefined;
}

/** Removes one batch of expired tickets.
 *  @returns whether there may be more */
export async function purgeTickets(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(statements.purge);
  return rowCount === 1000;
}

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
