/** Facts of updates, all of them in the stream `update-platform`, since there is one at a time. Stored for good: a
 *  type is never renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { UpdateId } from '#domain/kernel/ids.ts';
import type { DiscardCause, Release, UpdateKind, UpdateStep } from './update.ts';

/** The repository has something that was not known before. */
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
    /** Such as the id of the backup. */
    readonly detail: string | null;
  }
>;

/** The version that was wanted is at work, and well. */
export type UpdateSucceeded = DomainEvent<'UpdateSucceeded', { readonly updateId: UpdateId }>;

/** Nothing was changed: it did not come to the restart. */
export type UpdateFailed = DomainEvent<
  'UpdateFailed',
  { readonly updateId: UpdateId; readonly step: UpdateStep; readonly reason: string }
>;

/** The version that was wanted was not well: the one before is at work again. */
export type UpdateRolledBack = DomainEvent<
  'UpdateRolledBack',
  { readonly updateId: UpdateId; readonly reason: string }
>;

/** The copy of the database from before an update is given up, and with it the rollback of that update. */
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
