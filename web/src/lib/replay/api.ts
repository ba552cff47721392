import { client, unwrap } from '#lib/api/client.ts';
import type { AuditDensity, AuditEntry, Page, Replay, ReplayDifference } from '#lib/api/types.ts';

/** The number of audit entries over time. `from` defaults to the first entry, and `to` to now. */
export function auditDensity(query: {
  from?: string;
  to?: string;
  actor?: string;
}): Promise<AuditDensity> {
  return unwrap(client.GET('/api/v1/audit/density', { params: { query } }));
}

/** The state of the platform, with the first 200 resources of each kind.
 *  @param at a time or the position of an event; null: now */
export function replayAt(at: string | null): Promise<Replay> {
  const query = { limit: 200, ...(at !== null && { at }) };
  return unwrap(client.GET('/api/v1/replay', { params: { query } }));
}

/** The differences between `from` and now. */
export function differencesSince(
  from: string,
  cursor: string | null,
): Promise<Page<ReplayDifference>> {
  const query = { from, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/v1/replay/diff', { params: { query } }));
}

/** The last audit entry as of a point in time; null before the first event.
 *  @param at a time or the position of an event; null: now */
export async function lastEntryAt(at: string | null): Promise<AuditEntry | null> {
  const query = { limit: 1, ...(at !== null && momentFilter(at)) };
  const page = await unwrap(client.GET('/api/v1/audit', { params: { query } }));
  return page.items[0] ?? null;
}

function momentFilter(at: string): { position: number } | { to: string } {
  if (/^\d+$/.test(at)) return { position: Number(at) };
  // The end of a range is exclusive, but a point in time includes the events at that time.
  return { to: new Date(Date.parse(at) + 1).toISOString() };
}

/** The audit entry next to a position; null if there is no further entry.
 *  @param actor only entries of this actor; null: all */
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
