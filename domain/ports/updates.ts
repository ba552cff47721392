/** Where newer releases of the platform come from. */
import type { Release } from '#domain/update/update.ts';

/** Why what a repository offers is not taken: it is not what its signature says, or its word counts no longer. */
export class UpdateRefused extends Error {
  override readonly name = 'UpdateRefused';
}

/** The provider interface of the specification (§9). */
export interface UpdateProvider {
  /** The newest release.
   *  @throws UpdateRefused when the repository cannot be trusted; any other error when it cannot be read */
  checkLatest(): Promise<Release>;

  /** Gets the artifact of a version.
   *  @param destination a folder that is there; what an earlier attempt left in it is replaced
   *  @returns the path of the artifact in it
   *  @throws UpdateRefused when the repository has no such version, or cannot be trusted */
  download(version: string, destination: string): Promise<string>;

  /** Whether an artifact that was downloaded is, byte for byte, what was signed. */
  verify(artifactPath: string): Promise<boolean>;
}
