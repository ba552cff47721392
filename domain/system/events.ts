/** Facts of the whole platform, in the one stream `system-triggers`. Stored for good: a type is never
 *  renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';

/** From now on nothing starts by itself. */
export type TriggersPaused = DomainEvent<'TriggersPaused', Readonly<Record<string, never>>>;
export type TriggersResumed = DomainEvent<'TriggersResumed', Readonly<Record<string, never>>>;

export type SystemEvent = TriggersPaused | TriggersResumed;
