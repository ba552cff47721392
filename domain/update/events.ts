/** Events of updates, all in the stream `update-platform`, because only one update runs at a time. Permanent:
 *  never rename a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { UpdateId } from '#domain/kernel/ids.ts';
import type { DiscardCause, Release, UpdateKind, UpdateStep } from './update.ts';

/** The repository offers a release that was unknown before. */
export type ReleaseFound = DomainEvent<'ReleaseFound', Release>;

export type UpdateStarted = DomainEvent<
  'UpdateStarted',
  {
    readonly updateId: UpdateId;
    readonly kind: UpdateKind;
    readonly from: string;
    readonly to: string;
  }
>;

export type UpdateStepFinished = DomainEvent<
  'UpdateStepFinished',
  {
    readonly updateId: UpdateId;
    readonly step: UpdateStep;
    /** A reference such as the ID of the backup. */
    readonly detail: string | null;
  }
>;

/** The requested version runs and is healthy. */
export type UpdateSucceeded = DomainEvent<'UpdateSucceeded', { readonly updateId: UpdateId }>;

/** Nothing changed: the update failed before the restart. */
export type UpdateFailed = DomainEvent<
  'UpdateFailed',
  { readonly updateId: UpdateId; readonly step: UpdateStep; readonly reason: string }
>;

/** The requested version was unhealthy, so the previous version runs again. */
export type UpdateRolledBack = DomainEvent<
  'UpdateRolledBack',
  { readonly updateId: UpdateId; readonly reason: string }
>;

/** The database copy from before an update was discarded, and with it the rollback of the update. */
export type RollbackDiscarded = DomainEvent<
  'RollbackDiscarded',
  { readonly updateId: UpdateId; readonly cause: DiscardCause }
>;

export type UpdateEvent =
  | ReleaseFound
  | UpdateStarted
  | UpdateStepFinished
  | UpdateSucceeded
  | UpdateFailed
  | UpdateRolledBack
  | RollbackDiscarded;
