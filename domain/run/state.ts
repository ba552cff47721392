import type { ScriptId } from '#domain/kernel/ids.ts';
import type { RunApproval } from './approval.ts';
import type { RunEvent } from './events.ts';
import type { Failure } from './run.ts';

export type RunState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'queued';
      readonly scriptId: ScriptId;
      /** Whether the run must be released before it may start. */
      readonly waiting: boolean;
      readonly approval?: RunApproval;
    }
  | {
      readonly status: 'running';
      readonly scriptId: ScriptId;
      readonly runtimeId: string;
      /** The version of the stream when the run started. Later reports must contain this version, which serves as
       *  the fence. */
      readonly fence: number;
      readonly stopRequested: boolean;
      readonly approval?: RunApproval;
    }
  | {
      readonly status: 'finished';
      readonly outcome: 'success' | 'stopped' | Failure;
      readonly approval?: RunApproval;
    };

export const initialRun: RunState = { status: 'absent' };

export function evolveRun(state: RunState, event: RunEvent, version: number): RunState {
  switch (event.type) {
    case 'RunQueued':
      return {
        status: 'queued',
        scriptId: event.data.scriptId,
        waiting: event.data.waiting ?? false,
      };
    case 'RunApprovalRequested': {
      const { requestedBy, expiresAt } = event.data;
      return withApproval(state, { status: 'pending', requestedBy, expiresAt });
    }
    case 'RunApproved':
      return withApproval(state, { status: 'approved' });
    case 'RunRejected':
      return withApproval(state, { status: 'rejected' });
    case 'RunApprovalExpired':
      return withApproval(state, { status: 'expired' });
    case 'RunApprovalWithdrawn':
      return withApproval(state, { status: 'withdrawn' });
    case 'RunReleased':
      return state.status === 'queued' ? { ...state, waiting: false } : state;
    case 'RunStarted':
      return {
        status: 'running',
        scriptId: event.data.scriptId,
        runtimeId: event.data.runtimeId,
        fence: version,
        stopRequested: false,
        ...approvalOf(state),
      };
    case 'RunStopRequested':
      return state.status === 'running' ? { ...state, stopRequested: true } : state;
    case 'RunFinished':
      return { status: 'finished', outcome: event.data.outcome, ...approvalOf(state) };
  }
}

function withApproval(state: RunState, approval: RunApproval): RunState {
  return state.status === 'queued' ? { ...state, approval } : state;
}

function approvalOf(state: RunState): { readonly approval?: RunApproval } {
  return 'approval' in state && state.approval !== undefined ? { approval: state.approval } : {};
}
