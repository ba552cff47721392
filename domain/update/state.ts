import type { UpdateId } from '#domain/kernel/ids.ts';
import type { UpdateEvent } from './events.ts';
import { updateSteps, type Release, type UpdateKind, type UpdateStep } from './update.ts';

/** An active update. */
export interface ActiveUpdate {
  readonly updateId: UpdateId;
  readonly kind: UpdateKind;
  readonly from: string;
  readonly to: string;
  /** The step that is in progress, or the next step. */
  readonly step: UpdateStep;
}

export interface UpdateState {
  /** The newest release that an update repository has ever offered. */
  readonly latest: Release | null;
  readonly active: ActiveUpdate | null;
  /** The updates that have finished. */
  readonly ended: readonly UpdateId[];
  /** The updates that can no longer be rolled back, because their database copy was discarded. */
  readonly discarded: readonly UpdateId[];
}

export const initialUpdate: UpdateState = { latest: null, active: null, ended: [], discarded: [] };

/** A rollback needs no download, because the previous release is still on this machine. */
export const firstStep = (kind: UpdateKind): UpdateStep =>
  kind === 'update' ? 'download' : 'restart';

export function evolveUpdate(state: UpdateState, event: UpdateEvent): UpdateState {
  switch (event.type) {
    case 'ReleaseFound':
      return { ...state, latest: event.data };
    case 'UpdateStarted':
      return { ...state, active: { ...event.data, step: firstStep(event.data.kind) } };
    case 'UpdateStepFinished': {
      const next = updateSteps[updateSteps.indexOf(event.data.step) + 1] ?? 'restart';
      return { ...state, active: state.active && { ...state.active, step: next } };
    }
    case 'UpdateSucceeded':
    case 'UpdateFailed':
    case 'UpdateRolledBack':
      return { ...state, active: null, ended: [...state.ended, event.data.updateId] };
    case 'RollbackDiscarded':
      return { ...state, discarded: [...state.discarded, event.data.updateId] };
  }
}
