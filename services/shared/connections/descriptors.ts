/** Derives connection limits from the process's limit of open file descriptors. */
import { readFileSync } from 'node:fs';

/** The number of descriptors reserved for the database, log files, health checks and other files. */
export const reservedDescriptors = 256;
/** The assumed limit if the operating system does not report one. */
const defaultDescriptors = 1024;

/** Returns this process's limit of open file descriptors. */
export function descriptorLimit(): number {
  const [, limit] = /^Max open files\s+(\d+)/m.exec(limitsOfProcess()) ?? [];
  return limit === undefined ? defaultDescriptors : Number(limit);
}

/** Returns the maximum number of connections that leaves the reserved descriptors free.
 *  @param descriptors the process's limit of open descriptors */
export function maxConnections(descriptors = descriptorLimit()): number {
  return Math.max(1, descriptors - reservedDescriptors);
}

/** Returns the default number of connections. Half of the unreserved descriptors remain for files, uploads and
 *  connections to the object store. */
export function defaultMaxConnections(descriptors = descriptorLimit()): number {
  return Math.min(10_000, Math.max(1, Math.floor(maxConnections(descriptors) / 2)));
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
