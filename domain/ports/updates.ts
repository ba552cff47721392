/** The source of new platform releases. */
import type { Release } from '#domain/update/update.ts';

/** A release was rejected because its signature does not match or its manifest has expired. */
export class UpdateRefused extends Error {
  override readonly name = 'UpdateRefused';
}

/** Checks for, downloads and verifies releases (specification §9). */
export interface UpdateProvider {
  /** Returns the newest release.
   *  @throws UpdateRefused if the update repository cannot be trusted
   *  @throws another error if the repository cannot be read */
  checkLatest(): Promise<Release>;

  /** Downloads the artifact of a version.
   *  @param destination an existing folder. Files from an earlier attempt are replaced.
   *  @returns the path of the artifact in the folder
   *  @throws UpdateRefused if the repository lacks the version or cannot be trusted */
  download(version: string, destination: string): Promise<string>;

  /** Whether a downloaded artifact is identical to the signed artifact. */
  verify(artifactPath: string): Promise<boolean>;
}
