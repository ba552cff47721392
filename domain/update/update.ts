/** The types of updates (specification §3, "Update flow"; contract §3, "Updates"). */

/** The steps, in this order. The last step combines migrations, restart and health check: the services are down
 *  during this step, and the process that restarts them reports the result. */
export const updateSteps = ['download', 'verify', 'backup', 'prepare', 'restart'] as const;
export type UpdateStep = (typeof updateSteps)[number];

/** To a newer release, or back to the previous one. */
export const updateKinds = ['update', 'rollback'] as const;
export type UpdateKind = (typeof updateKinds)[number];

/** An administrator discards a rollback; otherwise it expires. */
export const discardCauses = ['requested', 'expired'] as const;
export type DiscardCause = (typeof discardCauses)[number];

/** A repository's signed description of its newest release. */
export interface Release {
  /** The version, such as `0.1.14`. */
  readonly version: string;
  /** Release notes of a few sentences. */
  readonly notes: string;
  /** RFC 3339. */
  readonly releasedAt: string;
  /** RFC 3339. The signed description expires at this time. */
  readonly expiresAt: string;
  /** The oldest version that can be updated directly. */
  readonly minimumVersion: string;
  /** Size of the artifact. */
  readonly sizeBytes: number;
  /** SHA-256 of the artifact, in lower-case hex. */
  readonly sha256: string;
}

const pattern = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/;

/** Whether the text is a version: three numbers. */
export function isVersion(text: string): boolean {
  return pattern.test(text);
}

/** Negative if `one` is older than `other`, 0 if equal. */
export function compareVersions(one: string, other: string): number {
  const numbers = (text: string) => (pattern.exec(text) ?? []).slice(1).map(Number);
  const [left, right] = [numbers(one), numbers(other)];
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
