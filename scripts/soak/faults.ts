/** Faults that are applied to the platform one after another. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName } from '#services/minimal/testing/product.ts';
import { send, type Edition } from './edition.ts';

/** A fault for one kind of platform. */
export interface Fault<Platform = Edition> {
  readonly name: string;
  /** Causes the fault. Also reverts a fault that would otherwise be permanent. */
  inflict(platform: Platform): Promise<void>;
  /** Repairs optional parts of the platform once it has recovered. */
  readonly repair?: (platform: Platform) => Promise<void>;
}

const kill = (kind: ServiceName | 'postgres'): Fault => ({
  name: `${kind} killed`,
  async inflict(edition) {
    for (const pid of (await edition.pidsOf(kind)).slice(0, 1)) send(pid, 'SIGKILL');
  },
});

const stop = (kind: ServiceName | 'postgres', seconds: number): Fault => ({
  name: `${kind} stopped for ${seconds} s`,
  async inflict(edition) {
    const pids = await edition.pidsOf(kind);
    for (const pid of pids) send(pid, 'SIGSTOP');
    await wait(seconds * 1000);
    for (const pid of pids) send(pid, 'SIGCONT');
  },
});

const everything: Fault = {
  name: 'everything killed',
  inflict: (edition) => edition.killAll(),
};

/** @param folder the mount point of a small file system */
export const fullDisk = (folder: string, seconds: number): Fault => ({
  name: `disk full for ${seconds} s`,
  async inflict() {
    const path = join(folder, 'filler');
    const file = openSync(path, 'w');
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await wait(100)) fill(file);
    closeSync(file);
    rmSync(path);
  },
});

const block = Buffer.alloc(1024 * 1024);

function fill(file: number): void {
  for (let size = block.length; size >= 512; size /= 2) {
    try {
      for (;;) writeSync(file, block, 0, size);
    } catch {
      // A block of this size does not fit, but a smaller one may.
    }
  }
}

/** Returns all faults, in order of increasing severity.
 *  @param smallDisk the mount point of a small, separate file system that contains the data */
export function faultsFor(smallDisk: string | undefined): readonly Fault[] {
  // The backend process also runs the scheduler.
  const kinds = ['backend', 'runtime', 'postgres'] as const;
  return [
    ...kinds.map(kill),
    stop('backend', 5),
    stop('runtime', 12),
    stop('postgres', 10),
    ...(smallDisk === undefined ? [] : [fullDisk(smallDisk, 10)]),
    everything,
  ];
}
