import type { ScriptId } from '#domain/kernel/ids.ts';
import type { ErrorGroupIgnored, ErrorGroupReopened, ErrorGroupResolved } from './events.ts';

export type ResolveErrorGroup = ErrorGroupResolved['data'] & { readonly type: 'ResolveErrorGroup' };
export type IgnoreErrorGroup = ErrorGroupIgnored['data'] & { readonly type: 'IgnoreErrorGroup' };

/** Sent on behalf of a user, or by the reaction to a run in which the error recurred. */
export type ReopenErrorGroup = ErrorGroupReopened['data'] & {
  readonly type: 'ReopenErrorGroup';
  /** The script of the run in which the error recurred. */
  readonly scriptId: ScriptId | null;
  readonly version: number | null;
};

export type ErrorGroupCommand = ResolveErrorGroup | IgnoreErrorGroup | ReopenErrorGroup;
