/** A backup that cannot be trusted. */
export class DamagedBackup extends Error {
  override readonly name: string = 'DamagedBackup';
  /** Whether the message names the damaged part. Otherwise the message is only the reason. */
  readonly namesPart: boolean = true;
}

/** Damage that was found by code that does not know the name of the part. The message is a clause such as "it is
 *  missing". */
export class Damage extends DamagedBackup {
  override readonly namesPart = false;
}

/** A newer version of the program made the backup. The message is for the operator. */
export class NewerBackup extends DamagedBackup {}

/** The seal cannot be checked on this machine; only the checksums can. */
export class UnsealedBackup extends DamagedBackup {
  override readonly name = 'UnsealedBackup';
  /** The message consists of complete sentences without advice. */
  readonly reason: string;

  constructor(reason: string) {
    super(
      `${reason} If you trust its storage, use --unsealed on the command line to verify only the checksums.`,
    );
    this.reason = reason;
  }
}

/** @param reason a clause, such as "it is truncated" */
export function damaged(part: string, reason: string, cause?: unknown): DamagedBackup {
  return new DamagedBackup(`${part} is damaged: ${reason}.`, { cause });
}

/** Adds the name of the part to an error that does not name a part yet. */
export function inPart(part: string, error: unknown): unknown {
  if (!(error instanceof DamagedBackup) || error.namesPart) return error;
  return damaged(part, error.message, error);
}
