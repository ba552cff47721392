/** A backup failed verification. */
export class DamagedBackup extends Error {
  override readonly name: string = 'DamagedBackup';
  /** Whether the message names the damaged part. If false, the message contains only the reason. */
  readonly namesPart: boolean = true;
}

/** Damage found by code that cannot tell which part it is reading. The message is a clause such as "it is missing". */
export class Damage extends DamagedBackup {
  override readonly namesPart = false;
}

/** The backup was created by a newer version of the program. The message is for the operator. */
export class NewerBackup extends DamagedBackup {}

/** The seal cannot be verified on this machine because its master key is not available. The checksums can still be
 *  verified. */
export class UnsealedBackup extends DamagedBackup {
  override readonly name = 'UnsealedBackup';
  /** The reason in complete sentences, without advice. */
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

/** Adds the part's name to an error that does not yet name a part. */
export function inPart(part: string, error: unknown): unknown {
  if (!(error instanceof DamagedBackup) || error.namesPart) return error;
  return damaged(part, error.message, error);
}
