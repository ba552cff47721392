/** A file that lines are added to, and that never grows beyond a bound. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const MAX_BYTES = 10 * 1024 * 1024;

export interface LogFile {
  write(line: string): void;
  /** Adds bytes as they are. */
  append(bytes: Uint8Array): void;
  close(): void;
}

/** Opens the file at its end. A full one becomes `<path>.1`, and the one before it is dropped.
 *  @param maxBytes size from which on it is full */
export function openLogFile(path: string, maxBytes = MAX_BYTES): LogFile {
  let descriptor = openSync(path, 'a', 0o600);
  let bytes = fstatSync(descriptor).size;
  const append = (added: Uint8Array): void => {
    if (bytes >= maxBytes) {
      closeSync(descriptor);
      renameSync(path, `${path}.1`);
      descriptor = openSync(path, 'a', 0o600);
      bytes = 0;
    }
    bytes += writeSync(descriptor, added);
  };
  return {
    write: (line) => append(Buffer.from(`${line}\n`)),
    append,
    close: () => closeSync(descriptor),
  };
}
