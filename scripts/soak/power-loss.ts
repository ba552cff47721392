/** Power loss while the platform writes: everything ends at one instant, and the platform starts on the stored data in
 *  another folder. The load continues: after that instant nothing can be acknowledged, so the journal needs no
 *  exception. */
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

/** Copies the data while all processes are suspended, and kills them. A copy made during writes would be
 *  inconsistent. The copy includes data that was written without flushing; `powerCut` loses such data. */
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

/** The file system of the data stops without flushing anything: files that were not synced lose their content. */
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

/** Waits for a random time, so that the power fails between any two saved files. */
async function waitForWrites(): Promise<void> {
  await wait(Math.random() * 4_000);
}
