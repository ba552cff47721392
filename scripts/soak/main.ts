/** `make soak HOURS=n` runs load and faults for `n` hours, and checks the results from outside the platform. `SEED=n`
 *  repeats the random times of kills. `FAULTS=text` selects the experiments whose names contain the text. Prints a
 *  table. Exits with code 1 if a result was lost, duplicated, stuck, wrong or out of order. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomFrom } from '#services/minimal/testing/replica-chaos.ts';
import { Edition } from './edition.ts';
import { experiments, type Experiment } from './experiments.ts';
import { openJournal } from './journal.ts';
import { quickVariables, soakSubject } from './soak.ts';
import { endsTableOf, isClean, rowOf, strikesTableOf, tableOf, type Session } from './table.ts';

const hours = Number(process.env['HOURS'] ?? '0.1');
if (!(hours > 0)) {
  console.error('HOURS must be a number over 0, such as HOURS=1 or HOURS=0.1');
  process.exit(2);
}
const wanted = process.env['FAULTS'] ?? '';
const selected = experiments.filter(({ name }) => name.includes(wanted));
if (selected.length === 0) {
  console.error(`FAULTS must be part of: ${experiments.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const parent = fileURLToPath(new URL('../../.test', import.meta.url));
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, 'soak-'));
// PostgreSQL's account must be able to access the folder. Otherwise, the database would be stored outside the disks
// that the faults affect.
chmodSync(folder, 0o755);
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
console.log(`SEED=${seed}`);
const random = randomFrom(seed);
const sessions = new Map<Experiment, Session[]>();
const impossible = new Set<Experiment>();

const endMs = performance.now() + hours * 3_600_000;
for (let number = 0; performance.now() < endMs; number += 1) {
  const possible = selected.filter((one) => !impossible.has(one));
  const experiment = possible[number % possible.length];
  if (experiment === undefined) break;
  const session = await run(experiment, join(folder, `session-${number + 1}`));
  if (session === undefined) {
    impossible.add(experiment);
    number -= 1;
    continue;
  }
  const previous = sessions.get(experiment) ?? [];
  sessions.set(experiment, [...previous, session]);
}
const rows = [...sessions].map(([{ name }, found]) => rowOf(name, found));
console.log(`\n${tableOf(rows)}`);
const all = [...sessions.values()].flat();
console.log(`\n${strikesTableOf(all)}\n\n${endsTableOf(all)}`);
console.log(`What was seen: ${folder}/session-*.jsonl`);
process.exit(rows.every(isClean) ? 0 : 1);

/** Runs an experiment once, with each of its faults in turn.
 *  @returns undefined if this machine cannot run the experiment */
async function run(experiment: Experiment, at: string): Promise<Session | undefined> {
  mkdirSync(at);
  const journal = openJournal(`${at}.jsonl`);
  const setup = await experiment.open(at, { journal, random });
  if ('missing' in setup) {
    console.log(`Skipping "${experiment.name}": ${setup.missing}`);
    return undefined;
  }
  const recoveriesMs: number[] = [];
  const onRecovered = (fault: string, recoveryMs: number) => {
    recoveriesMs.push(recoveryMs);
    const seconds = (recoveryMs / 1000).toFixed(1);
    console.log(`${experiment.name}: ${fault}; runs end again after ${seconds} s`);
  };
  let problem: string | undefined;
  try {
    const edition = await Edition.start(setup.dataDir, {
      ...quickVariables,
      ...setup.variables,
    });
    await soakSubject(edition, setup.faults, { journal, durationMs: 0, onRecovered });
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  } finally {
    await setup.close?.();
  }
  const session = {
    journal: journal.read(),
    recoveriesMs,
    ...(problem !== undefined && { problem }),
  };
  const row = rowOf(experiment.name, [session]);
  if (isClean(row)) rmSync(at, { recursive: true, force: true });
  else console.log(`${experiment.name}:`, row.verdict);
  return session;
}
