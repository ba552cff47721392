import type { ChainId } from '#domain/kernel/ids.ts';
import type { ChainSettings } from './chain.ts';
import type { ChainCreated, ChainSkipped } from './events.ts';

export type CreateChain = ChainCreated['data'] & { readonly type: 'CreateChain' };

export interface ChangeChain {
  readonly type: 'ChangeChain';
  readonly chainId: ChainId;
  /** Settings that are absent stay as they are. */
  readonly changes: Partial<ChainSettings>;
}

export interface DeleteChain {
  readonly type: 'DeleteChain';
  readonly chainId: ChainId;
}

/** Notes that the end of a run starts none, unless the chain has answered to it already. */
export type SkipChain = ChainSkipped['data'] & { readonly type: 'SkipChain' };

export type ChainCommand = CreateChain | ChangeChain | DeleteChain | SkipChain;
