/** Events of a runtime, in streams `runtime-<id>`. Permanent: never rename a type or change the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';

/** The runtime claims no runs until it is resumed. The runs that it has claimed continue. */
export type RuntimeDrained = DomainEvent<'RuntimeDrained', { readonly runtimeId: string }>;

/** The runtime claims runs again. */
export type RuntimeResumed = DomainEvent<'RuntimeResumed', { readonly runtimeId: string }>;

export type RuntimeEvent = RuntimeDrained | RuntimeResumed;
