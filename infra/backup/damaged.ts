/** A backup that cannot be trusted, with a sentence that names what is wrong with it. */
export class DamagedBackup extends Error {
  override readonly name = 'DamagedBackup';
}
