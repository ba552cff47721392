/** Records which secrets are due for rotation, in streams `rotation-<ID of the script or group>`. Permanent: never
 *  rename a type or change the meaning of a field. Events never contain secret values. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { DueRotation, RotationClearedReason, RotationOwner } from './rotation.ts';

export type SecretRotationDue = DomainEvent<'SecretRotationDue', RotationOwner & DueRotation>;

export type SecretRotationCleared = DomainEvent<
  'SecretRotationCleared',
  RotationOwner & DueRotation & { readonly reason: RotationClearedReason }
>;

export type RotationEvent = SecretRotationDue | SecretRotationCleared;
