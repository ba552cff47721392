/** Derives the number of connections from a process's file descriptors. */
import { readFileSync } from 'node:fs';

/** The number of descriptors for the database, log files, health checks and other files of the process. */
export const reservedDescriptors = 256;
/** Assumed if the system does not report it. */
const defaultDescriptors = 1024;

/** The limit of file descriptors of this process. */
export function descriptorLimit(): number {
  const [, limit] = /^Max open files\s+(\d+)/m.exec(limitsOfProcess()) ?? [];
  return limit === undefined ? defaultDescriptors : Number(limit);
}

/** The maximum number of connections that leaves these descriptors free.
 *  @param descriptors the maximum number of descriptors of the process */
export function maxConnections(descriptors = descriptorLimit()): number {
  return Math.max(1, descriptors - reservedDescriptors);
}

/** The default number of connections. It leaves half of the remaining descriptors for files, uploads, and connections
 *  to the object store. */
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
