/** A log file with a limited size. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const MAX_BYTES = 10 * 1024 * 1024;

export interface LogFile {
  write(line: string): void;
  /** Appends bytes unchanged. */
  append(bytes: Uint8Array): void;
  close(): void;
}

/** Opens a log file for appending. A full file is renamed to `<path>.1`, which replaces the previous one. Writing never
 *  throws, because a logging failure must not stop the program. Lines that cannot be written, for instance because the
 *  disk is full, are dropped. The next successful write reports the number of lost bytes.
 *  @param maxBytes the size at which the file is rotated */
export function openLogFile(path: string, maxBytes = MAX_BYTES): LogFile {
  let descriptor: number | undefined;
  let size = 0;
  let lostBytes = 0;
  let reason = '';

  const close = (): void => {
    const open = descriptor;
    descriptor = undefined;
    if (open !== undefined) closeSync(open);
  };
  const open = (): number => {
    descriptor = openSync(path, 'a', 0o600);
    size = fstatSync(descriptor).size;
    return descriptor;
  };
  const openWithRoom = (): number => {
    const present = descriptor ?? open();
    if (size < maxBytes) return present;
    close();
    renameSync(path, `${path}.1`);
    return open();
  };
  /** @returns whether all bytes were written */
  const add = (bytes: Uint8Array): boolean => {
    let written = 0;
    try {
      const file = openWithRoom();
      while (written < bytes.length) written += writeSync(file, bytes, written);
    } catch (error) {
      reason = (error as NodeJS.ErrnoException).code ?? String(error);
    }
    size += written;
    return written === bytes.length;
  };
  const append = (bytes: Uint8Array): void => {
    // The report starts on a new line, because the last line may be incomplete.
    const report = `\n${lostBytes} bytes of this log are lost: they could not be written (${reason})\n`;
    if (lostBytes > 0 && add(Buffer.from(report))) lostBytes = 0;
    if (lostBytes > 0 || !add(bytes)) lostBytes += bytes.length;
  };
  append(Buffer.alloc(0)); // creates the file
  return { write: (line) => append(Buffer.from(`${line}\n`)), append, close };
}
