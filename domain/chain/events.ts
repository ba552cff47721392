/** Events of a chain, in streams `chain-<id>`. Permanent: never rename a type or change the meaning of a field. A
 *  run that the chain starts is recorded only in the stream of that run. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { ChainId, RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { ChainSettings } from './chain.ts';

export type ChainCreated = DomainEvent<
  'ChainCreated',
  ChainSettings & { readonly chainId: ChainId; readonly sourceScriptId: ScriptId }
>;

/** Settings were changed. Settings that are absent keep their values. */
export type ChainChanged = DomainEvent<
  'ChainChanged',
  Partial<ChainSettings> & { readonly chainId: ChainId }
>;

export type ChainDeleted = DomainEvent<'ChainDeleted', { readonly chainId: ChainId }>;

/** A run of the source script ended, but the chain started no run. */
export type ChainSkipped = DomainEvent<
  'ChainSkipped',
  {
    readonly chainId: ChainId;
    readonly sourceRunId: RunId;
    /** Code for the reason why no run started. */
    readonly reason: string;
  }
>;

export type ChainEvent = ChainCreated | ChainChanged | ChainDeleted | ChainSkipped;
