/** Who holds something on this host: written into a file, so that others can see whether the holder
 *  still lives. A process id alone is not enough, since ids are used again. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

export interface Owner {
  readonly pid: number;
  /** When the process began, in clock ticks since the machine started. */
  readonly startedTicks: string;
  readonly bootId: string;
  /** Process ids mean something only within one namespace, such as a container. */
  readonly pidNamespace: string;
  /** Tells apart the holders within one process. */
  readonly id: string;
}

// A holder that cannot be seen is believed for longer than any build takes.
const UNSEEN_MAX_AGE_MS = 60 * 60 * 1000;

/** When a process began; `undefined` where there is none. */
export function startedTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie holds nothing any more.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

let self: Omit<Owner, 'id'> | undefined;

/** What tells this process from all others. */
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

/** Whether the owner that wrote `text`, `ageMs` ago, may still hold what it wrote it for. */
export function isAlive(text: string, ageMs: number): boolean {
  let owner: Owner;
  try {
    owner = JSON.parse(text) as Owner;
  } catch {
    // Being written at this moment, or cut by a crash.
    return ageMs < UNSEEN_MAX_AGE_MS;
  }
  const host = thisProcess();
  if (owner.bootId !== host.bootId) return false;
  if (owner.pidNamespace !== host.pidNamespace) return ageMs < UNSEEN_MAX_AGE_MS;
  return startedTicks(owner.pid) === owner.startedTicks;
}
