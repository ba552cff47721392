/** Events of updates. All are in the stream `update-platform`, because only one update can be active at a time.
 *  Permanent: never rename a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { UpdateId } from '#domain/kernel/ids.ts';
import type { DiscardCause, Release, UpdateKind, UpdateStep } from './update.ts';

/** The update repository offers a release that was not known before. */
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
    /** Additional information, such as the ID of the backup. */
    readonly detail: string | null;
  }
>;

/** The requested version is running and healthy. */
export type UpdateSucceeded = DomainEvent<'UpdateSucceeded', { readonly updateId: UpdateId }>;

/** The update failed before the restart and changed nothing. */
export type UpdateFailed = DomainEvent<
  'UpdateFailed',
  { readonly updateId: UpdateId; readonly step: UpdateStep; readonly reason: string }
>;

/** The requested version was unhealthy, so the previous version was started again. */
export type UpdateRolledBack = DomainEvent<
  'UpdateRolledBack',
  { readonly updateId: UpdateId; readonly reason: string }
>;

/** The database copy from before an update was discarded. The update can no longer be rolled back. */
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
