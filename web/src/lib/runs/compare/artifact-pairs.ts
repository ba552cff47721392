/** Pairs the artifacts of two runs by path. */
import type { Artifact } from '#lib/api/types.ts';

export interface ArtifactPair {
  readonly path: string;
  /** The artifact of the run that the current run is compared with. */
  readonly before: Artifact | undefined;
  readonly after: Artifact | undefined;
}

/** Pairs all artifacts of both runs, sorted by path. */
export function artifactPairs(
  before: readonly Artifact[],
  after: readonly Artifact[],
): ArtifactPair[] {
  const byPath = (items: readonly Artifact[]) => new Map(items.map((one) => [one.path, one]));
  const [old, current] = [byPath(before), byPath(after)];
  return [...new Set([...old.keys(), ...current.keys()])].sort().map((path) => ({
    path,
    before: old.get(path),
    after: current.get(path),
  }));
}

/** Describes how an artifact differs between the two runs. Files of the same size may still differ. */
export function pairState({ before, after }: ArtifactPair): string {
  if (!before) return 'Only in this run';
  if (!after) return 'Only in the other run';
  if (before.etag === after.etag) return 'Identical';
  return before.size_bytes === after.size_bytes ? 'Same size' : 'Changed';
}
