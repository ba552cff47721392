/** Records the owner of a resource on this host in a file, so that other processes can check whether the owner is
 *  alive. A process ID alone is not sufficient, because process IDs are reused. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

export interface Owner {
  readonly pid: number;
  /** The process's start time, in clock ticks since boot. */
  readonly startedTicks: string;
  readonly bootId: string;
  /** The namespace of the process ID, such as a container's namespace. A process ID is only valid within its
   *  namespace. */
  readonly pidNamespace: string;
  /** Distinguishes several owners in one process. */
  readonly id: string;
}

// How long an owner in another namespace counts as alive, because it cannot be checked. Longer than any build.
const UNSEEN_MAX_AGE_MS = 60 * 60 * 1000;

/** Returns the start time of a process, or `undefined` if the process does not exist. */
export function startedTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie counts as exited.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

let self: Omit<Owner, 'id'> | undefined;

/** Returns the identity of this process. */
export function thisProcess(): Omit<Owner, 'id'> {
  self ??= {
    pid: process.pid,
    startedTicks: startedTicks(process.pid) ?? '',
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
  };
  return self;
}

/** Creates an owner in this process. */
export function newOwner(): Owner {
  return { ...thisProcess(), id: randomUUID() };
}

/** Whether an owner may still be alive.
 *  @param text the owner's record
 *  @param ageMs how long ago the record was written */
export function isAlive(text: string, ageMs: number): boolean {
  let owner: Owner;
  try {
    owner = JSON.parse(text) as Owner;
  } catch {
    // The record is incomplete: it is still being written, or a crash truncated it.
    return ageMs < UNSEEN_MAX_AGE_MS;
  }
  const host = thisProcess();
  if (owner.bootId !== host.bootId) return false;
  if (owner.pidNamespace !== host.pidNamespace) return ageMs < UNSEEN_MAX_AGE_MS;
  return startedTicks(owner.pid) === owner.startedTicks;
}
