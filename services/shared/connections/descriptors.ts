/** How many connections a process has file descriptors for. */
import { readFileSync } from 'node:fs';

/** Never used for clients: the database, log files, health checks and whatever else the process opens. */
export const reservedDescriptors = 256;
/** Assumed if the system does not report it. */
const usualDescriptors = 1024;

/** The limit of file descriptors of this process. */
export function descriptorLimit(): number {
  const [, limit] = /^Max open files\s+(\d+)/m.exec(limitsOfProcess()) ?? [];
  return limit === undefined ? usualDescriptors : Number(limit);
}

/** The most connections that fit, with the reserve left.
 *  @param descriptors that the process may have */
export function maxConnections(descriptors = descriptorLimit()): number {
  return Math.max(1, descriptors - reservedDescriptors);
}

/** Connections where none are configured. Half of the descriptors are for what requests open: files, uploads,
 *  connections to the object store. */
export function usualConnections(descriptors = descriptorLimit()): number {
  return Math.min(10_000, Math.max(1, Math.floor(maxConnections(descriptors) / 2)));
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
