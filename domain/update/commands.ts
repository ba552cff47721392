import type {
  ReleaseFound,
  RollbackDiscarded,
  UpdateFailed,
  UpdateRolledBack,
  UpdateStarted,
  UpdateStepFinished,
  UpdateSucceeded,
} from './events.ts';

/** Records the release that the update repository offers. Sent after the signature was verified. */
export type NoteRelease = ReleaseFound['data'] & { readonly type: 'NoteRelease' };
export type StartUpdate = UpdateStarted['data'] & { readonly type: 'StartUpdate' };
export type FinishUpdateStep = UpdateStepFinished['data'] & { readonly type: 'FinishUpdateStep' };
export type SucceedUpdate = UpdateSucceeded['data'] & { readonly type: 'SucceedUpdate' };
export type FailUpdate = Omit<UpdateFailed['data'], 'step'> & { readonly type: 'FailUpdate' };
export type RollUpdateBack = UpdateRolledBack['data'] & { readonly type: 'RollUpdateBack' };
/** Discards the database copy for rolling back a successful update. */
export type DiscardRollback = RollbackDiscarded['data'] & { readonly type: 'DiscardRollback' };

export type UpdateCommand =
  | NoteRelease
  | StartUpdate
  | FinishUpdateStep
  | SucceedUpdate
  | FailUpdate
  | RollUpdateBack
  | DiscardRollback;
