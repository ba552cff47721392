/** The source of newer releases of the platform. */
import type { Release } from '#domain/update/update.ts';

/** A release is rejected because its signature does not match or its manifest has expired. */
export class UpdateRefused extends Error {
  override readonly name = 'UpdateRefused';
}

/** The provider interface of the specification (§9). */
export interface UpdateProvider {
  /** The newest release.
   *  @throws UpdateRefused if the repository cannot be trusted; any other error if it cannot be read */
  checkLatest(): Promise<Release>;

  /** Downloads the artifact of a version.
   *  @param destination an existing folder; files of an earlier attempt are replaced
   *  @returns the path of the artifact in the folder
   *  @throws UpdateRefused if the repository lacks the version or cannot be trusted */
  download(version: string, destination: string): Promise<string>;

  /** Whether a downloaded artifact matches the signed one byte for byte. */
  verify(artifactPath: string): Promise<boolean>;
}
