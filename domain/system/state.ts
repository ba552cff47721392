import type { SystemEvent } from './events.ts';

export interface SystemState {
  readonly paused: boolean;
}

export const initialSystem: SystemState = { paused: false };

export function evolveSystem(_state: SystemState, event: SystemEvent): SystemState {
  switch (event.type) {
    case 'TriggersPaused':
      return { paused: true };
    case 'TriggersResumed':
      return { paused: false };
  }
}
