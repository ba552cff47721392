import type { ChainId } from '#domain/kernel/ids.ts';
import type { ChainSettings } from './chain.ts';
import type { ChainCreated, ChainSkipped } from './events.ts';

export type CreateChain = ChainCreated['data'] & {
  readonly type: 'CreateChain';
  /** Whether the scripts may be deleted. True if restoring them requires an approval that is still pending. */
  readonly mayBeDeleted?: boolean;
};

export interface ChangeChain {
  readonly type: 'ChangeChain';
  readonly chainId: ChainId;
  /** The settings to change. Settings that are absent keep their values. */
  readonly changes: Partial<ChainSettings>;
  /** Whether the scripts may be deleted. True if restoring them requires an approval that is still pending. */
  readonly mayBeDeleted?: boolean;
}

export interface DeleteChain {
  readonly type: 'DeleteChain';
  readonly chainId: ChainId;
}

/** Records that the chain started no run after a source run. Has no effect if the chain has already handled that
 *  run. */
export type SkipChain = ChainSkipped['data'] & { readonly type: 'SkipChain' };

export type ChainCommand = CreateChain | ChangeChain | DeleteChain | SkipChain;
