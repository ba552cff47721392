/** Events of a runtime, in streams `runtime-<id>`. Permanent: never rename a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';

/** The runtime was drained and claims no more runs until it is resumed. Runs that it has already claimed continue. */
export type RuntimeDrained = DomainEvent<'RuntimeDrained', { readonly runtimeId: string }>;

/** The runtime was resumed and claims runs again. */
export type RuntimeResumed = DomainEvent<'RuntimeResumed', { readonly runtimeId: string }>;

export type RuntimeEvent = RuntimeDrained | RuntimeResumed;
