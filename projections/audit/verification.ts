/** Verifies the audit trail. Every entry and the hash chain are recomputed from the events, in the order of the
 *  store. */
import type { Position } from '#domain/kernel/event.ts';
import { sql } from 'kysely';
import { between, type ReadModels } from '../projection.ts';
import { entriesOf, type ChainEnd } from './entries.ts';

/** The ways in which an entry can be broken. */
export const breaks = [
  'entry_missing',
  'event_missing',
  'event_added',
  'event_changed',
  'entry_changed',
  'hash_changed',
  'head_differs',
  'head_not_signed',
  'tail_missing',
] as const;
export type Break = (typeof breaks)[number];

export interface BrokenEntry {
  readonly audit_seq: number;
  readonly reason: Break;
}

export interface VerifiedStep {
  /** The end of the recomputed chain. */
  readonly end: ChainEnd;
  /** The first entry that differs from the recomputed entry. */
  readonly broken: BrokenEntry | undefined;
}

/** Verifies the entries for the events after `from` up to and including `to`. These entries must continue the chain
 *  at `end`. */
export async function verifyEntries(
  db: ReadModels,
  [from, to]: readonly [Position, Position],
  end: ChainEnd,
): Promise<VerifiedStep> {
  const events = sql`(SELECT * FROM events WHERE ${between(from, to)})`;
  const { rows } = await sql<ChainEnd & { broken_seq: number | null; reason: Break | null }>`
    WITH ${entriesOf(events, end)}, made AS MATERIALIZED (SELECT * FROM entry), pair AS (
      SELECT audit_seq, CASE
        WHEN kept.event_id IS NULL THEN 'entry_missing'
        WHEN kept.event_id <> made.event_id THEN CASE
          WHEN EXISTS (SELECT FROM events own WHERE own.event_id = kept.event_id) THEN 'event_added'
          ELSE 'event_missing' END
        WHEN kept.event_hash <> made.event_hash THEN 'event_changed'
        WHEN (kept.time, kept.actor, kept.action, kept.resource, kept.outcome, kept.detail, kept.ip,
            kept.correlation_id, kept.causation_id) IS DISTINCT FROM (made.time, made.actor, made.action,
            made.resource, made.outcome, made.detail, made.ip, made.correlation_id, made.causation_id)
          THEN 'entry_changed'
        WHEN (kept.prev_hash, kept.hash) IS DISTINCT FROM (made.prev_hash, made.hash)
          THEN 'hash_changed' END AS reason
      FROM made LEFT JOIN audit kept USING (audit_seq)
    ), broken AS (
      SELECT audit_seq, reason FROM pair WHERE reason IS NOT NULL ORDER BY audit_seq LIMIT 1
    )
    SELECT last.audit_seq, last.hash, broken.audit_seq AS broken_seq, broken.reason
    FROM (SELECT audit_seq, hash FROM made ORDER BY audit_seq DESC LIMIT 1) last
    LEFT JOIN broken ON true`.execute(db);
  const [found] = rows;
  if (found === undefined) return { end, broken: undefined };
  const { audit_seq, hash, broken_seq, reason } = found;
  const isBroken = broken_seq !== null && reason !== null;
  return {
    end: { audit_seq, hash },
    broken: isBroken ? { audit_seq: broken_seq, reason } : undefined,
  };
}

/** The last entry of the trail and the last signed head, both read in the same snapshot. */
export interface TrailEnds {
  /** The last event that must have an entry. */
  readonly place: Position;
  /** The numbers of the last entry and the last signed entry. 0 if there is no such entry. */
  readonly last: number;
  readonly signed: number;
}

export async function trailEnds(db: ReadModels): Promise<TrailEnds> {
  const { rows } = await sql<{
    transaction: string;
    position: number;
    last: number;
    signed: number;
  }>`
    SELECT coalesce((SELECT max(audit_seq) FROM audit), 0) AS last,
      coalesce((SELECT max(audit_seq) FROM audit_heads), 0) AS signed,
      coalesce(place.transaction_id::text, '0') AS transaction,
      coalesce(place.global_position, 0) AS position
    FROM (SELECT) one LEFT JOIN checkpoints place ON place.name = 'audit'`.execute(db);
  const [
    { transaction, position, last, signed } = { transaction: 0, position: 0, last: 0, signed: 0 },
  ] = rows;
  return { place: { transactionId: BigInt(transaction), globalPosition: position }, last, signed };
}

/** Returns the hash of an entry, or `undefined` if the entry does not exist. */
export async function entryHash(db: ReadModels, auditSeq: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('audit')
    .select('hash')
    .where('audit_seq', '=', auditSeq)
    .executeTakeFirst();
  return row?.hash;
}
