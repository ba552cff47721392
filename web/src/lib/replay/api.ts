import { client, unwrap } from '#lib/api/client.ts';
import type { AuditDensity, AuditEntry, Page, Replay, ReplayDifference } from '#lib/api/types.ts';

/** Entries of the trail by time. `from` is its beginning and `to` is now where they are absent. */
export function auditDensity(query: {
  from?: string;
  to?: string;
  actor?: string;
}): Promise<AuditDensity> {
  return unwrap(client.GET('/api/v1/audit/density', { params: { query } }));
}

/** Everything as it was; the first 200 of each kind.
 *  @param at a time or the position of an event; null: now */
export function replayAt(at: string | null): Promise<Replay> {
  const query = { limit: 200, ...(at !== null && { at }) };
  return unwrap(client.GET('/api/v1/replay', { params: { query } }));
}

/** What has become different since. */
export function differencesSince(
  from: string,
  cursor: string | null,
): Promise<Page<ReplayDifference>> {
  const query = { from, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/replay/diff', { params: { query } }));
}

/** What was last recorded up to a moment; null before the first event.
 *  @param at a time or the position of an event; null: now */
export async function lastEntryAt(at: string | null): Promise<AuditEntry | null> {
  const query = { limit: 1, ...(at !== null && momentFilter(at)) };
  const page = await unwrap(client.GET('/api/v1/audit', { params: { query } }));
  return page.items[0] ?? null;
}

function momentFilter(at: string): { position: number } | { to: string } {
  if (/^\d+$/.test(at)) return { position: Number(at) };
  // The end of a stretch is not in it, and a moment is.
  return { to: new Date(Date.parse(at) + 1).toISOString() };
}

/** The entry next to a place in the store; null where there is none.
 *  @param actor whose entries count; null: everybody's */
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
