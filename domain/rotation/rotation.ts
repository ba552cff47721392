/** The types of secrets that are due for rotation. */
import type { GroupId, ScriptId } from '#domain/kernel/ids.ts';

/** The script or group that owns the secrets. */
export type RotationOwner =
  | { readonly scriptId: ScriptId; readonly groupId: null }
  | { readonly scriptId: null; readonly groupId: GroupId };

/** A secret value that is due for rotation. */
export interface DueRotation {
  readonly name: string;
  /** The version of the secret value. */
  readonly version: number;
  /** The name of the script or group at the time of the check. */
  readonly ownerName: string;
  /** In RFC 3339 format, in UTC with milliseconds. */
  readonly dueAt: string;
}

/** Why a secret is no longer due for rotation. `replaced`: the secret has a new value. `removed`: the secret or its
 *  owner was deleted. */
export type RotationClearedReason = 'replaced' | 'removed';

/** Returns a key that identifies a secret value within its owner. */
export function valueKey({ name, version }: Pick<DueRotation, 'name' | 'version'>): string {
  return `${name} ${version}`;
}
