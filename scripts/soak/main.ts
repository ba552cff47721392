/** `make soak HOURS=n`: load and faults on the minimal edition for so long, judged by a witness outside of it.
 *  Prints a table; ends with code 1 when anything was lost, doubled, stuck, wrong or out of order. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '../bench/report.ts';
import { mountSmall } from './edition.ts';
import { openJournal } from './journal.ts';
import { soak } from './soak.ts';
import { judge } from './verdict.ts';

const hours = Number(process.env['HOURS'] ?? '0.1');
if (!(hours > 0)) {
  console.error('HOURS has to be a number over 0, such as HOURS=1 or HOURS=0.1');
  process.exit(2);
}
const parent = fileURLToPath(new URL('../../.test', import.meta.url));
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, 'soak-'));
const dataDir = join(folder, 'data');
mkdirSync(dataDir);
const unmount = mountSmall(dataDir, 1024);
if (unmount === undefined)
  console.log('Skipping the full-disk fault: mounting a small file system requires root');
const journal = openJournal(join(folder, 'journal.jsonl'));
const recoveries = new Map<string, number[]>();
try {
  await soak({
    dataDir,
    isSmallDisk: unmount !== undefined,
    journal,
    durationMs: hours * 3_600_000,
    onRecovered: (fault, recoveryMs) => {
      recoveries.set(fault, [...(recoveries.get(fault) ?? []), recoveryMs]);
    },
  });
} finally {
  unmount?.();
  rmSync(dataDir, { recursive: true, force: true });
}

for (const [fault, times] of recoveries) {
  const [middle, longest] = [median(times), Math.max(...times)].map((ms) => (ms / 1000).toFixed(1));
  console.log(
    `${fault.padEnd(32)} ${String(times.length).padStart(4)} times, runs end again after ${middle} s, at most ${longest} s`,
  );
}
const seen = journal.read();
const count = (what: string) => seen.filter((entry) => entry.what === what).length;
console.log(
  `${count('accepted')} runs accepted, ${count('final')} recorded, ${count('ended')} seen to their end, ${count('saved')} files saved`,
);
const verdict = judge(seen);
for (const [name, found] of Object.entries(verdict)) {
  console.log(`${name.padEnd(12)} ${found.length} ${found.slice(0, 5).join(', ')}`);
}
console.log(`What was seen: ${join(folder, 'journal.jsonl')}`);
process.exit(Object.values(verdict).some((found) => found.length > 0) ? 1 : 0);
