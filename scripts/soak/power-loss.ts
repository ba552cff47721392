/**
 * Power loss during writes: all processes exit at the same time, and the platform starts in another folder with the
 * stored data. The load continues. The stopped platform acknowledges no requests, so the journal needs no exception.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import type { Disk } from './volumes.ts';

/** Each start uses a new folder. */
function nextFolder(dataDir: string): string {
  const number = Number(/-(\d+)$/.exec(dirname(dataDir))?.[1] ?? 0);
  return `${dirname(dataDir).replace(/-\d+$/, '')}-${number + 1}`;
}

/** Suspends all processes, copies the data, and kills the processes. A copy made during writes would be inconsistent.
 *  The copy includes data that was not flushed; `powerCut` loses such data. */
export const snapshot: Fault = {
  name: 'data copied, everything killed',
  async inflict(edition) {
    await waitForWrites();
    const { dataDir } = edition;
    const folder = nextFolder(dataDir);
    const copy = join(folder, 'data');
    mkdirSync(folder);
    await edition.freezeAll();
    execFileSync('cp', ['-a', dataDir, copy]);
    await edition.killAll(copy);
    rmSync(dataDir, { recursive: true });
  },
};

/** Shuts down the data's file system without flushing anything. Files that were not synced lose their content. */
export const powerCut = (disk: Disk): Fault => ({
  name: 'power cut',
  async inflict(edition) {
    await waitForWrites();
    const folder = nextFolder(edition.dataDir);
    disk.cutPower();
    await edition.endAll();
    disk.moveTo(folder);
    await edition.startOn(join(folder, 'data'));
  },
});

/** Waits for a random time, so that the power fails at a random point between two saved files. */
async function waitForWrites(): Promise<void> {
  await wait(Math.random() * 4_000);
}
