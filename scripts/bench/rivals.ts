/** Compares complete runs of this service and of other products, on the same machine in alternating rounds. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, row } from './report.ts';
import { dagu } from './rivals/dagu.ts';
import { cronFlock, flock } from './rivals/flock.ts';
import { ours } from './rivals/ours.ts';
import { prefect } from './rivals/prefect.ts';
import { NotAvailable, type Figures, type Rival, type RunningRival } from './rivals/rival.ts';
import { rq } from './rivals/rq.ts';

const rivals = [ours, flock, cronFlock, rq, dagu, prefect];
const defaultRounds = 3;

interface Subject {
  readonly name: string;
  readonly running: RunningRival;
  readonly folder: string;
  readonly rounds: Figures[];
  /** Why the benchmark no longer measures this product. */
  error?: string;
}

/** `ORCH_BENCH_ROUNDS` sets the number of measured rounds, which follow a warm-up round. */
export async function benchRivals(): Promise<void> {
  const subjects: Subject[] = [];
  try {
    for (const rival of rivals) {
      const subject = await start(rival);
      if (subject !== undefined) subjects.push(subject);
    }
    const rounds = Number(process.env['ORCH_BENCH_ROUNDS'] ?? defaultRounds);
    for (let round = 0; round <= rounds; round += 1) {
      for (const each of round % 2 === 0 ? subjects : subjects.toReversed()) {
        if (each.error !== undefined) continue;
        try {
          const figures = await each.running.measure();
          if (round > 0) each.rounds.push(figures);
          console.log(`round ${round}, ${each.name}: ${JSON.stringify(figures)}`);
        } catch (error) {
          each.error = String(error);
          row(each.name, `stopped in round ${round}: ${each.error}`, '–');
        }
      }
    }
    const [own] = subjects;
    const measured = subjects.filter(({ rounds: all }) => all.length > 0);
    if (own !== undefined) for (const each of measured) print(each, own);
  } finally {
    for (const { running, folder } of subjects) {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function start(rival: Rival): Promise<Subject | undefined> {
  // The data must not be below `/tmp`, because the sandbox replaces `/tmp`.
  const parent = fileURLToPath(new URL('../../.test', import.meta.url));
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'rival-'));
  try {
    return { name: rival.name, running: await rival.start(folder), folder, rounds: [] };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!(error instanceof NotAvailable)) throw error;
    row(rival.name, `not measured: ${error.message}`, '–');
    return undefined;
  }
}

function print({ name, rounds }: Subject, own: Subject): void {
  for (const [figure, unit, of] of [
    ['submit → finished', 'ms', ({ finishedMs }: Figures) => finishedMs],
    ['submit → first line', 'ms', ({ firstLineMs }: Figures) => firstLineMs],
    ['complete runs/s', '/s', ({ perSecond }: Figures) => perSecond],
  ] as const) {
    const ratio = median(
      own.rounds.flatMap((mine, round) =>
        rounds.slice(round, round + 1).map((each) => of(each) / of(mine)),
      ),
    );
    const value = median(rounds.map(of)).toFixed(1);
    row(`${figure}: ${name}`, `${value} ${unit} (${ratio.toFixed(2)} × this service)`, '–');
  }
}
