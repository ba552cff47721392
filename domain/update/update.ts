/** The types of updates (specification §3, "Update flow"; contract §3, "Updates"). */

/** The steps of an update, in order. The last step includes the migrations, the restart and the health check. The
 *  services are down during this step, so the process that restarts them reports the result. */
export const updateSteps = ['download', 'verify', 'backup', 'prepare', 'restart'] as const;
export type UpdateStep = (typeof updateSteps)[number];

/** `update` installs a newer release. `rollback` returns to the previous release. */
export const updateKinds = ['update', 'rollback'] as const;
export type UpdateKind = (typeof updateKinds)[number];

/** Why the copy for a rollback was discarded: an administrator requested this, or the copy expired. */
export const discardCauses = ['requested', 'expired'] as const;
export type DiscardCause = (typeof discardCauses)[number];

/** The newest release, as described and signed by the update repository. */
export interface Release {
  /** The version, such as `0.1.14`. */
  readonly version: string;
  /** Release notes in a few sentences. */
  readonly notes: string;
  /** In RFC 3339 format. */
  readonly releasedAt: string;
  /** RFC 3339. The time at which the signed description expires. */
  readonly expiresAt: string;
  /** The oldest version that can be updated to this release directly. */
  readonly minimumVersion: string;
  /** Size of the artifact. */
  readonly sizeBytes: number;
  /** SHA-256 of the artifact, in lower-case hex. */
  readonly sha256: string;
}

const pattern = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/;

/** Whether text is a version, which consists of three numbers. */
export function isVersion(text: string): boolean {
  return pattern.test(text);
}

/** Compares two versions. The result is negative if `one` is older than `other`, and 0 if both are equal. */
export function compareVersions(one: string, other: string): number {
  const numbers = (text: string) => (pattern.exec(text) ?? []).slice(1).map(Number);
  const [left, right] = [numbers(one), numbers(other)];
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
