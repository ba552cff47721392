/** Records the owner of a resource on this host in a file, so that other processes can check whether it is alive. A
 *  process ID alone is not sufficient, because IDs are reused. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

export interface Owner {
  readonly pid: number;
  /** The start time of the process, in clock ticks since boot. */
  readonly startedTicks: string;
  readonly bootId: string;
  /** The namespace of the process ID. A process ID is valid within one namespace only, such as the namespace of a
   *  container. */
  readonly pidNamespace: string;
  /** Distinguishes owners within one process. */
  readonly id: string;
}

// An owner in another namespace cannot be checked. It counts as alive for this time, which is longer than any build
// takes.
const UNSEEN_MAX_AGE_MS = 60 * 60 * 1000;

/** The start time of a process; `undefined` if it does not exist. */
export function startedTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie process counts as ended.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

let self: Omit<Owner, 'id'> | undefined;

/** The identity of this process. */
export function thisProcess(): Omit<Owner, 'id'> {
  self ??= {
    pid: process.pid,
    startedTicks: startedTicks(process.pid) ?? '',
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
  };
  return self;
}

/** A new owner in this process. */
export function newOwner(): Owner {
  return { ...thisProcess(), id: randomUUID() };
}

/** Whether an owner may still be alive.
 *  @param text its record
 *  @param ageMs how long ago the record was written */
export function isAlive(text: string, ageMs: number): boolean {
  let owner: Owner;
  try {
    owner = JSON.parse(text) as Owner;
  } catch {
    // The file is not completely written yet, or was truncated by a crash.
    return ageMs < UNSEEN_MAX_AGE_MS;
  }
  const host = thisProcess();
  if (owner.bootId !== host.bootId) return false;
  if (owner.pidNamespace !== host.pidNamespace) return ageMs < UNSEEN_MAX_AGE_MS;
  return startedTicks(owner.pid) === owner.startedTicks;
}
