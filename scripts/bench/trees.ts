/** Code shared by the comparisons of source trees: arguments, alternation, processor time and output. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { descendants } from '#services/minimal/testing/product.ts';
import { median } from './report.ts';

export interface Sample {
  readonly wallMs: number;
  /** The user and system time of all processes. */
  readonly cpuMs: number;
}

const ticksPerSecond = 100;

/** Reads `ROUNDS BASE OTHER…` from the command line. Exits with code 2 if an argument is missing. */
export function treesOf(program: string): {
  readonly rounds: number;
  readonly folders: readonly string[];
} {
  const [rounds = '', ...folders] = process.argv.slice(2);
  if (Number(rounds) > 0 && folders.length >= 2) return { rounds: Number(rounds), folders };
  console.error(`usage: node scripts/bench/${program} ROUNDS BASE OTHER…`);
  process.exit(2);
}

/** Measures each subject once per round, in a different order each round, after a warm-up round. */
export async function interleave<Subject>(
  subjects: readonly Subject[],
  rounds: number,
  measure: (subject: Subject, index: number) => Promise<Sample>,
): Promise<readonly (readonly Sample[])[]> {
  const samples: Sample[][] = subjects.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    const indexes = subjects.map((_, index) => (index + round) % subjects.length);
    if (round % 2 === 1) indexes.reverse();
    for (const index of indexes) {
      const sample = await measure(subjects[index] as Subject, index);
      if (round > 0) samples[index]?.push(sample);
    }
  }
  return samples;
}

/** Prints medians, and the medians and ranges of the ratios to the first tree. */
export function printComparison(
  name: string,
  folders: readonly string[],
  samples: readonly (readonly Sample[])[],
): void {
  const [base = []] = samples;
  console.log(`${name}: ms wall, ms CPU per run (ratio to ${basename(folders[0] ?? '')})`);
  samples.forEach((own, index) => {
    const figures = (['wallMs', 'cpuMs'] as const).map((unit) => {
      const ratios = own.map((sample, round) => sample[unit] / (base[round]?.[unit] ?? 1));
      const range = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(2));
      const middle = median(own.map((sample) => sample[unit])).toFixed(1);
      return `${middle.padStart(7)} (${median(ratios).toFixed(3)}, ${range.join(' – ')})`;
    });
    console.log(`  ${basename(folders[index] ?? '').padEnd(16)} ${figures.join('  ')}`);
  });
}

/** Returns the processor time of a process and its descendants, in milliseconds. Includes exited children that these
 *  processes have waited for. */
export async function cpuOf(pid: number): Promise<number> {
  const pids = [pid, ...(await descendants(pid))];
  const times = await Promise.all(pids.map((each) => readTimes(each, 4)));
  return times.reduce((sum, each) => sum + each, 0);
}

/** Returns the processor time of a process alone, in milliseconds. */
export async function ownCpuOf(pid: number): Promise<number> {
  return await readTimes(pid, 2);
}

/** Returns the sum of the first `count` of these times: the process's user time and system time, then the user time and
 *  system time of the children that it has waited for. */
async function readTimes(pid: number, count: 2 | 4): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 11 + count).reduce((sum, each) => sum + Number(each), 0);
  return (ticks * 1000) / ticksPerSecond;
}
