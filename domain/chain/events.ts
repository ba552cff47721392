/** Facts of a chain, in streams `chain-<id>`. Stored for good: a type is never renamed and a field never
 *  changes its meaning. That a chain started a run is said by the run's own event. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ChainId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { ChainSettings } from './chain.ts';

export type ChainCreated = DomainEvent<
  'ChainCreated',
  ChainSettings & { readonly chainId: ChainId; readonly sourceScriptId: ScriptId }
>;

/** Settings that are absent stay as they were. */
export type ChainChanged = DomainEvent<
  'ChainChanged',
  Partial<ChainSettings> & { readonly chainId: ChainId }
>;

export type ChainDeleted = DomainEvent<'ChainDeleted', { readonly chainId: ChainId }>;

/** A run of the source has ended, and none of the target was started. */
export type ChainSkipped = DomainEvent<
  'ChainSkipped',
  {
    readonly chainId: ChainId;
    readonly sourceRunId: RunId;
    /** Why, as a code. */
    readonly reason: string;
  }
>;

export type ChainEvent = ChainCreated | ChainChanged | ChainDeleted | ChainSkipped;
