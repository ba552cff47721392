/** Facts of the whole platform, in the streams `system-triggers` and `system-retention`. Stored for good:
 *  a type is never renamed and a field never changes its meaning. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { Retention } from './retention.ts';

/** From now on nothing starts by itself. */
export type TriggersPaused = DomainEvent<'TriggersPaused', Readonly<Record<string, never>>>;
export type TriggersResumed = DomainEvent<'TriggersResumed', Readonly<Record<string, never>>>;

/** All of the setting, as it is from then on. */
export type RetentionChanged = DomainEvent<'RetentionChanged', Retention>;

export type SystemEvent = TriggersPaused | TriggersResumed | RetentionChanged;
