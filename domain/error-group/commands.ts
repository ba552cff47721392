import type { ErrorGroupIgnored, ErrorGroupReopened, ErrorGroupResolved } from './events.ts';

export type ResolveErrorGroup = ErrorGroupResolved['data'] & { readonly type: 'ResolveErrorGroup' };
export type IgnoreErrorGroup = ErrorGroupIgnored['data'] & { readonly type: 'IgnoreErrorGroup' };

/** Asked by somebody, or because the error came back in a run. */
export type ReopenErrorGroup = ErrorGroupReopened['data'] & {
  readonly type: 'ReopenErrorGroup';
  /** The script version of that run. */
  readonly version: number | null;
};

export type ErrorGroupCommand = ResolveErrorGroup | IgnoreErrorGroup | ReopenErrorGroup;
