/** The experiments of `make soak` with the minimal edition. Each experiment is a group of faults with its own data. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { backup, restore } from './backups.ts';
import { Clocks, clockFaults, type ClockedKind } from './clocks.ts';
import { faultsFor, fullDisk, type Fault } from './faults.ts';
import { strikesAt, type Operation, type KillOptions, type Victim } from './operations.ts';
import { powerCut, snapshot } from './power-loss.ts';
import { purge } from './purge.ts';
import { ReleaseRepository, type ReleaseKind } from './releases.ts';
import { retentionFaults } from './retention.ts';
import { update, type UpdateStep } from './updates.ts';
import { Disk, mountSmall } from './volumes.ts';

/** A prepared experiment. */
export interface Setup {
  readonly dataDir: string;
  /** Environment variables for the supervisor. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
  /** Called after the platform has stopped. */
  close?(): void | Promise<void>;
}

/** Why this machine cannot run an experiment: the missing requirement, and how to install it. */
export interface Missing {
  readonly missing: string;
}

export interface Experiment {
  readonly name: string;
  /** @param folder an empty folder that only this experiment uses */
  open(folder: string, parts: Parts): Promise<Setup | Missing>;
}

/** The dependencies of operations that random kills interrupt. */
type Parts = Pick<KillOptions, 'journal' | 'random'>;

const withoutFaketime: Missing = { missing: 'libfaketime is required: apt-get install faketime' };
const asRoot: Missing = { missing: 'mounting file systems requires root: sudo make soak' };

function folderIn(folder: string, ...parts: readonly string[]): string {
  const path = join(folder, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

const kills: Experiment = {
  name: 'kills and stops',
  open: async (folder) =>
    await Promise.resolve({ dataDir: folderIn(folder, 'data'), faults: faultsFor(undefined) }),
};

/** Returns an experiment that fills the small file system on which one part of the data is stored. */
const fullVolume = (name: string, part: string, megabytes: number): Experiment => ({
  name: `full disk: ${name}`,
  async open(folder) {
    const dataDir = folderIn(folder, 'data');
    const volume = folderIn(dataDir, part);
    const unmount = mountSmall(volume, megabytes);
    if (unmount === undefined) return await Promise.resolve(asRoot);
    const faults = [10, 40].map((seconds) => fullDisk(volume, seconds));
    return { dataDir, faults, close: unmount };
  },
});

const clocks = (name: string, kinds: readonly ClockedKind[]): Experiment => ({
  name,
  async open(folder) {
    const found = Clocks.open();
    if (found === undefined) return await Promise.resolve(withoutFaketime);
    const { variables } = found;
    const dataDir = folderIn(folder, 'data');
    return { dataDir, variables, faults: clockFaults(found, kinds), close: () => found.close() };
  },
});

const frozen: Experiment = {
  name: 'power loss: snapshot',
  open: async (folder) =>
    await Promise.resolve({
      dataDir: folderIn(folder, 'machine', 'data'),
      faults: [snapshot, snapshot, snapshot],
    }),
};

const unflushed: Experiment = {
  name: 'power loss: power cut',
  async open(folder) {
    const machine = folderIn(folder, 'machine');
    const disk = Disk.make(join(folder, 'disk'), machine, 2048);
    if (disk === undefined)
      return await Promise.resolve({
        missing: 'loop devices, mkfs.ext4 and root are required: sudo make soak',
      });
    const cut = powerCut(disk);
    const dataDir = folderIn(machine, 'data');
    const faults = [cut, cut, cut];
    return await Promise.resolve({ dataDir, faults, close: () => disk.unmount() });
  },
};

const operation = (one: Operation, victims: readonly Victim[]): Experiment => ({
  name: one.name,
  async open(folder, parts) {
    const dataDir = folderIn(folder, 'data');
    return await Promise.resolve({ dataDir, faults: strikesAt(one, { ...parts, victims }) });
  },
});

/** The clocks advance by two days while the machine is off. */
const retention: Experiment = {
  name: 'retention',
  async open(folder, parts) {
    const found = Clocks.open();
    if (found === undefined) return await Promise.resolve(withoutFaketime);
    const faults = retentionFaults(found, {
      ...parts,
      victims: ['backend', 'everything', 'postgres'],
    });
    const dataDir = folderIn(folder, 'data');
    return { dataDir, variables: found.variables, faults, close: () => found.close() };
  },
};

/** Performs consecutive updates.
 *  @param plan for each update, the kind of release and the steps at which all processes are killed */
const updates = (
  name: string,
  plan: readonly (readonly [ReleaseKind, ...UpdateStep[]])[],
): Experiment => ({
  name,
  async open(folder, { journal }) {
    const releases = await ReleaseRepository.make(folderIn(folder, 'releases'));
    const { variables } = releases;
    const parts = { journal, releases };
    const faults = plan.map(([kind, ...steps]) => update(kind, steps, parts));
    return { dataDir: folderIn(folder, 'data'), variables, faults };
  },
});

export const experiments: readonly Experiment[] = [
  kills,
  fullVolume('all data', '.', 1024),
  fullVolume('database', 'postgres', 512),
  fullVolume('objects', 'objects', 64),
  clocks('clock changes', ['runtime', 'backend']),
  clocks('clock changes: database', ['postgres']),
  frozen,
  unflushed,
  operation(backup, ['everything', 'backend', 'everything', 'backend', 'postgres']),
  operation(restore, ['everything', 'everything', 'everything', 'postgres', 'everything']),
  operation(purge, ['everything', 'backend', 'everything', 'backend', 'postgres']),
  retention,
  updates('update: killed', [
    ['good', 'download', 'observe'],
    ['good', 'verify', 'migrate'],
    ['good', 'backup', 'prepare', 'restart'],
  ]),
  updates('update: broken releases', [['every run fails'], ['backend exits after 5 s']]),
];
