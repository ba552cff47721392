import { client, unwrap } from '#lib/api/client.ts';
import type { AuditDensity, AuditEntry, Page, Replay, ReplayDifference } from '#lib/api/types.ts';

/** Counts audit entries over time. `from` defaults to the first entry, and `to` to now. */
export function auditDensity(query: {
  from?: string;
  to?: string;
  actor?: string;
}): Promise<AuditDensity> {
  return unwrap(client.GET('/api/v1/audit/density', { params: { query } }));
}

/** Returns the state of the platform with the first 200 resources of each kind.
 *  @param at a time, or the position of an event; null selects the current state */
export function replayAt(at: string | null): Promise<Replay> {
  const query = { limit: 200, ...(at !== null && { at }) };
  return unwrap(client.GET('/api/v1/replay', { params: { query } }));
}

/** Returns the differences between the state at `from` and the current state. */
export function differencesSince(
  from: string,
  cursor: string | null,
): Promise<Page<ReplayDifference>> {
  const query = { from, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/replay/diff', { params: { query } }));
}

/** Returns the last audit entry at or before a point in time, or null before the first event.
 *  @param at a time, or the position of an event; null selects now */
export async function lastEntryAt(at: string | null): Promise<AuditEntry | null> {
  const query = { limit: 1, ...(at !== null && momentFilter(at)) };
  const page = await unwrap(client.GET('/api/v1/audit', { params: { query } }));
  return page.items[0] ?? null;
}

function momentFilter(at: string): { position: number } | { to: string } {
  if (/^\d+$/.test(at)) return { position: Number(at) };
  // A range excludes its end, but a point in time includes the events that happened then.
  return { to: new Date(Date.parse(at) + 1).toISOString() };
}

/** Returns the audit entry before or after a position, or null if none exists.
 *  @param actor limits the search to this actor's entries; null includes all actors */
export async function entryBeside(
  position: number,
  direction: 'before' | 'behind',
  actor: string | null,
): Promise<AuditEntry | null> {
  const place =
    direction === 'before'
      ? ({ order: 'desc', to_position: position - 1 } as const)
      : ({ order: 'asc', from_position: position + 1 } as const);
  const query = { limit: 1, ...place, ...(actor !== null && { actor }) };
  const page = await unwrap(client.GET('/api/v1/audit', { params: { query } }));
  return page.items[0] ?? null;
}
