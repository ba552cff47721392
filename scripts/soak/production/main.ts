/** `make soak TOPOLOGY=production HOURS=n` runs load and faults on the production topology for `n` hours, and checks the
 *  results from outside. `FAULTS=text` selects the experiments whose names contain the text. Prints a table. Exits with
 *  code 1 if a result was lost, duplicated, stuck, wrong or out of order, or if a request was refused during a rolling
 *  restart. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openJournal, type Seen } from '../journal.ts';
import { soakSubject } from '../soak.ts';
import { isClean, rowOf, tableOf, type Session } from '../table.ts';
import { Cluster } from './cluster.ts';
import { experiments, skipped, type Experiment } from './faults.ts';
import { enterOwnNetwork } from './packet-loss.ts';

/** Limits the length of a session, because its whole journal is read repeatedly. */
const maxSessionMs = 600_000;
const hours = Number(process.env['HOURS'] ?? '0.1');
if (!(hours > 0)) {
  console.error('HOURS must be a number over 0, such as HOURS=1 or HOURS=0.1');
  process.exit(2);
}
const wanted = process.env['FAULTS'] ?? '';
const selected = experiments.filter(
  ({ name, faults }) => name.includes(wanted) && faults.length > 0,
);
if (selected.length === 0) {
  console.error(`FAULTS must be part of: ${experiments.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
enterOwnNetwork();
// Exits normally on these signals, so that the servers do not outlive this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
for (const line of skipped) console.log(`Skipping ${line}`);

const parent = fileURLToPath(new URL('../../../.test', import.meta.url));
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, 'soak-'));
const sessions = new Map<Experiment, Session[]>();
const totalMs = hours * 3_600_000;
const sessionMs = Math.min(maxSessionMs, totalMs / selected.length);
const endMs = performance.now() + totalMs;
for (let number = 0; number < selected.length || performance.now() < endMs; number += 1) {
  const experiment = selected[number % selected.length];
  if (experiment === undefined) break;
  const session = await run(experiment, join(folder, `session-${number + 1}.jsonl`));
  sessions.set(experiment, [...(sessions.get(experiment) ?? []), session]);
}
const rows = [...sessions].map(([{ name }, found]) => rowOf(name, found));
console.log(`\n${tableOf(rows)}\n`);
const all = [...sessions.values()].flat().flatMap(({ journal }) => journal);
const ends = endsOf(all);
for (const [end, count] of ends) console.log(`${end}: ${count} runs`);
const refusals = all.filter((entry) => entry.what === 'refused');
console.log(`Refused by a backend while the other one was being replaced: ${refusals.length}`);
console.log(`What was seen: ${folder}/session-*.jsonl`);
// None of these faults may cause a run to fail with a sandbox error. Runs must wait for recovery instead.
const isGood = rows.every(isClean) && refusals.length === 0 && !ends.has('sandbox_error');
process.exit(isGood ? 0 : 1);

/** Starts a cluster and causes the experiment's faults in turn, each at least once. */
async function run(experiment: Experiment, file: string): Promise<Session> {
  const journal = openJournal(file);
  const recoveriesMs: number[] = [];
  const onRecovered = (fault: string, ...times: [recoveryMs: number, healthyMs: number]) => {
    recoveriesMs.push(times[0]);
    const [recovery, healthy] = times.map((ms) => (ms / 1000).toFixed(1));
    console.log(
      `${experiment.name}: ${fault}; runs end again after ${recovery} s, all processes are healthy after ${healthy} s`,
    );
  };
  let problem: string | undefined;
  try {
    const cluster = await Cluster.start(journal);
    await soakSubject(cluster, experiment.faults, { journal, durationMs: sessionMs, onRecovered });
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
    console.error(error);
  }
  const session = {
    journal: journal.read(),
    recoveriesMs,
    ...(problem !== undefined && { problem }),
  };
  const row = rowOf(experiment.name, [session]);
  if (!isClean(row)) console.log(`${experiment.name}, ${file}:`, row.verdict);
  return session;
}

/** Counts runs by outcome. */
function endsOf(journal: readonly Seen[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const entry of journal) {
    if (entry.what !== 'final') continue;
    const end = entry.reason ?? entry.status;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return ends;
}
