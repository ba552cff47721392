/** A backup that cannot be trusted, with a sentence that names what is wrong with it. */
export class DamagedBackup extends Error {
  override readonly name = 'DamagedBackup';
}

/** This program is older than the one that made it. The message is for people. */
export class NewerBackup extends DamagedBackup {}
