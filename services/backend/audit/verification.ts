/** Verifies the audit trail: its chain, its events and saved heads. */
import { isAfter, startOfStore, type Position } from '#domain/kernel/event.ts';
import { isSignedBy, type ChainHead } from '#infra/audit/head-signer.ts';
import { headsBetween, publicKeys } from '#infra/postgres/operations/audit-heads.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { nextChunk } from '#infra/postgres/event-store/event-chunks.ts';
import { chainStart, type ChainEnd } from '#projections/audit/entries.ts';
import {
  entryHash,
  trailEnds,
  verifyEntries,
  type BrokenEntry,
  type TrailEnds,
} from '#projections/audit/verification.ts';
import type { ReadModels } from '#projections/projection.ts';

/** Number of entries that one statement checks. A longer transaction would delay all readers of the event store. */
const chunkSize = 2_000;

export interface VerificationDeps {
  readonly database: Queryable;
  readonly readModels: ReadModels;
  /** A head that the caller saved. */
  readonly saved: ChainHead | undefined;
  readonly signal: AbortSignal;
}

/** The progress and result of a verification. */
export interface Verification {
  readonly checked: number;
  /** The number of entries in the trail. */
  readonly entries: number;
  /** The last checked entry. */
  readonly end: ChainHead;
  readonly broken: BrokenEntry | undefined;
}

/** Verifies the chain from its beginning. Stops at the first broken entry, or at the end of the trail. Yields the
 *  progress; the last value is the result. */
export async function* verifyTrail(deps: VerificationDeps): AsyncGenerator<Verification, void> {
  const { database, readModels, saved, signal } = deps;
  let ends = await trailEnds(readModels);
  let place = startOfStore;
  let end = chainStart;
  const told = (broken?: BrokenEntry): Verification => ({
    checked: end.audit_seq,
    entries: ends.last,
    end,
    broken,
  });
  for (; !signal.aborted; ends = await trailEnds(readModels)) {
    while (isAfter(ends.place, place) && !signal.aborted) {
      const next = await nextPlace(database, place, ends.place);
      const step = await verifyEntries(readModels, [place, next], end);
      const broken = earlier(step.broken, await brokenHead(deps, end, step.end));
      [place, end] = [next, step.end];
      yield told(broken);
      if (broken !== undefined) return;
    }
    const settled = await trailEnds(readModels);
    if (isAfter(settled.place, place)) continue;
    yield told(brokenEnd(settled, end) ?? (await savedProblem(readModels, saved, end)));
    return;
  }
}

async function nextPlace(database: Queryable, from: Position, last: Position): Promise<Position> {
  const chunk = await nextChunk(database, from, chunkSize);
  return chunk === undefined || isAfter(chunk.end, last) ? last : chunk.end;
}

/** Detects a broken end. Either the trail has entries after the last verified entry, or it ends before a signed
 *  head. */
function brokenEnd({ last, signed }: TrailEnds, end: ChainEnd): BrokenEntry | undefined {
  const audit_seq = end.audit_seq + 1;
  if (last > end.audit_seq) return { audit_seq, reason: 'event_missing' };
  return signed > end.audit_seq ? { audit_seq, reason: 'tail_missing' } : undefined;
}

/** Finds the first head among these entries that differs from the chain or has an invalid signature. */
async function brokenHead(
  { database, readModels }: VerificationDeps,
  { audit_seq: from }: ChainEnd,
  { audit_seq: to }: ChainEnd,
): Promise<BrokenEntry | undefined> {
  const heads = await headsBetween(database, from, to);
  if (heads.length === 0) return undefined;
  const keys = await publicKeys(database);
  for (const head of heads) {
    const { audit_seq, hash, key_id } = head;
    if ((await entryHash(readModels, audit_seq)) !== hash) {
      return { audit_seq, reason: 'head_differs' };
    }
    const key = keys.get(key_id);
    if (key === undefined || !isSignedBy(key, head))
      return { audit_seq, reason: 'head_not_signed' };
  }
  return undefined;
}

function earlier(one: BrokenEntry | undefined, other: BrokenEntry | undefined) {
  if (one === undefined || other === undefined) return one ?? other;
  return other.audit_seq < one.audit_seq ? other : one;
}

async function savedProblem(
  readModels: ReadModels,
  saved: ChainHead | undefined,
  end: ChainEnd,
): Promise<BrokenEntry | undefined> {
  if (saved === undefined) return undefined;
  if (saved.audit_seq > end.audit_seq) {
    return { audit_seq: end.audit_seq + 1, reason: 'tail_missing' };
  }
  const hash = await entryHash(readModels, saved.audit_seq);
  return hash === saved.hash ? undefined : { audit_seq: saved.audit_seq, reason: 'head_differs' };
}
