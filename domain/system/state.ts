import type { SystemEvent } from './events.ts';
import { keepEverything, type Retention } from './retention.ts';

export interface SystemState {
  readonly paused: boolean;
  readonly retention: Retention;
}

export const initialSystem: SystemState = { paused: false, retention: keepEverything };

export function evolveSystem(state: SystemState, event: SystemEvent): SystemState {
  switch (event.type) {
    case 'TriggersPaused':
      return { ...state, paused: true };
    case 'TriggersResumed':
      return { ...state, paused: false };
    case 'RetentionChanged':
      return { ...state, retention: event.data };
  }
}
