/** Secrets whose values are due for rotation. */
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';

/** The owner of the secrets. */
export type RotationOwner =
  | { readonly scriptId: ScriptId; readonly groupId: null }
  | { readonly scriptId: null; readonly groupId: GroupId };

/** A value that is due for rotation. */
export interface DueRotation {
  readonly name: string;
  /** The version of the value. */
  readonly version: number;
  /** The name of the script or group at the time of the check. */
  readonly ownerName: string;
  /** RFC 3339, in UTC with milliseconds. */
  readonly dueAt: string;
}

/** Why a rotation is no longer due. `replaced`: the secret has a new value. `removed`: the secret or its owner was
 *  deleted. */
export type RotationClearedReason = 'replaced' | 'removed';

/** Identifies a value within its owner. */
export function valueKey({ name, version }: Pick<DueRotation, 'name' | 'version'>): string {
  return `${name} ${version}`;
}
