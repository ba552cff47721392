/** A backup that cannot be trusted. */
export class DamagedBackup extends Error {
  override readonly name: string = 'DamagedBackup';
  /** Whether the message names the damaged part. Where it does not, the message is the reason alone. */
  readonly namesPart: boolean = true;
}

/** Damage that was found where the name of the part is unknown: a clause such as "its end is missing". */
export class Damage extends DamagedBackup {
  override readonly namesPart = false;
}

/** A newer version of the program made it. The message is for the operator. */
export class NewerBackup extends DamagedBackup {}

/** Its seal cannot be checked here, so that only its checksums can be compared. */
export class UnsealedBackup extends DamagedBackup {
  override readonly name = 'UnsealedBackup';
  /** Sentences without advice. */
  readonly reason: string;

  constructor(reason: string) {
    super(
      `${reason} If you trust its storage, use --unsealed on the command line: it compares the ` +
        'checksums alone.',
    );
    this.reason = reason;
  }
}

/** @param reason a clause, such as "its end is missing" */
export function damaged(part: string, reason: string, cause?: unknown): DamagedBackup {
  return new DamagedBackup(`${part} is damaged: ${reason}.`, { cause });
}

/** The same error; one that does not name a part gets the name of this part. */
export function inPart(part: string, error: unknown): unknown {
  if (!(error instanceof DamagedBackup) || error.namesPart) return error;
  return damaged(part, error.message, error);
}
