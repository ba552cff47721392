import type { RuntimeEvent } from './events.ts';

export interface RuntimeState {
  readonly drained: boolean;
}

export const initialRuntime: RuntimeState = { drained: false };

export function evolveRuntime(_state: RuntimeState, event: RuntimeEvent): RuntimeState {
  return { drained: event.type === 'RuntimeDrained' };
}
