/** A short soak: each kind of process is killed or stopped once. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openJournal } from './journal.ts';
import { soak } from './soak.ts';
import { judge } from './verdict.ts';

const wanted = [
  'backend killed',
  'runtime killed',
  'postgres stopped for 10 s',
  'everything killed',
];

test(
  'a soak test finds no run that is lost, duplicated, stuck, incorrect or out of order',
  { timeout: 480_000 },
  async () => {
    const parent = fileURLToPath(new URL('../../.test', import.meta.url));
    await mkdir(parent, { recursive: true });
    const folder = await mkdtemp(join(parent, 'soak-'));
    try {
      const dataDir = join(folder, 'data');
      await mkdir(dataDir);
      const journal = openJournal(join(folder, 'journal.jsonl'));
      const recovered: string[] = [];
      await soak({
        dataDir,
        isSmallDisk: false,
        journal,
        durationMs: 0,
        only: ({ name }) => wanted.includes(name),
        onRecovered: (fault) => recovered.push(fault),
      });
      const seen = journal.read();
      expect(recovered).toEqual(wanted);
      expect(seen.filter(({ what }) => what === 'ended').length).toBeGreaterThan(20);
      expect(judge(seen)).toEqual({
        lost: [],
        duplicated: [],
        stuck: [],
        wrong: [],
        overlapping: [],
        outOfOrder: [],
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
