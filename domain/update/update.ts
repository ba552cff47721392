/** The vocabulary of updates (specification §3, "Update flow"; contract §3, "Updates"). */

/** What is done, in this order. The last one is the migrations, the restart and the health check together: the
 *  services are down meanwhile, and who restarts them tells how it ended. */
export const updateSteps = ['download', 'verify', 'backup', 'prepare', 'restart'] as const;
export type UpdateStep = (typeof updateSteps)[number];

/** To a newer release, or to the one before. */
export const updateKinds = ['update', 'rollback'] as const;
export type UpdateKind = (typeof updateKinds)[number];

/** An administrator discards a rollback; otherwise it expires. */
export const discardCauses = ['requested', 'expired'] as const;
export type DiscardCause = (typeof discardCauses)[number];

/** What a repository says of its newest release; signed there. */
export interface Release {
  /** Such as `0.1.14`. */
  readonly version: string;
  /** For people, a few sentences. */
  readonly notes: string;
  /** RFC 3339. */
  readonly releasedAt: string;
  /** RFC 3339. From then on the repository's word counts no longer. */
  readonly expiresAt: string;
  /** The oldest version that can be updated to it. */
  readonly minimumVersion: string;
  /** Of the artifact. */
  readonly sizeBytes: number;
  /** Of the artifact, in lower-case hex. */
  readonly sha256: string;
}

const pattern = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/;

/** Whether text is a version: three numbers. */
export function isVersion(text: string): boolean {
  return pattern.test(text);
}

/** Negative where `one` is older than `other`, 0 for the same. */
export function compareVersions(one: string, other: string): number {
  const numbers = (text: string) => (pattern.exec(text) ?? []).slice(1).map(Number);
  const [left, right] = [numbers(one), numbers(other)];
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
