/**
 * Updates the platform under load. Afterwards, either the new release is healthy, or the previous release is healthy
 * and has its data.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Releases } from '#services/shared/releases.ts';
import { until } from '#services/minimal/testing/product.ts';
import type { Edition } from './edition.ts';
import type { Fault } from './faults.ts';
import type { Journal } from './journal.ts';
import type { ReleaseKind, ReleaseRepository } from './releases.ts';
import { Trial } from './trial.ts';

/** The steps in order. The platform reports each step up to `restart`. No release responds during `restart`, and the
 *  new release runs during the last two steps. */
const steps = ['download', 'verify', 'backup', 'prepare', 'restart', 'migrate', 'observe'] as const;
export type UpdateStep = (typeof steps)[number];

interface Update {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly status: string;
  readonly step: UpdateStep | null;
  readonly reason: string | null;
}

interface Updates {
  readonly current: string;
  readonly running: Update | null;
}

interface Parts {
  readonly journal: Journal;
  readonly releases: ReleaseRepository;
}

/** The timeout for an update. An update installs packages, then monitors the new release for one minute. */
const timeoutMs = 15 * 60_000;

/** Updates to a release of this kind. Kills all processes when a step in `killed` is first reported, or at a later step
 *  if the platform has already passed that step. */
export const update = (
  kind: ReleaseKind,
  killed: readonly UpdateStep[],
  { journal, releases }: Parts,
): Fault => {
  const name = `update: ${kind}${killed.length === 0 ? '' : `, killed in ${killed.join(', ')}`}`;
  return {
    name,
    async inflict(edition) {
      const version = await releases.publish(kind);
      await edition.requestReliably('POST', '/system/updates/check');
      const { id } = await edition.requestReliably<Update>(
        'POST',
        '/system/updates/apply',
        { version },
        randomUUID(),
      );
      journal.note({ what: 'begun', operation: name, id });
      const trial = new Trial(id);
      const over = new AbortController();
      const following = follow(edition, trial, journal, over.signal);
      try {
        for (const step of killed) {
          const reached = await untilStep(edition, step, version);
          if (reached === undefined) break;
          journal.note({ what: 'struck', operation: name, id, step: reached });
          await edition.freezeAll();
          await edition.endAll();
          trial.noteKill(filesOf(edition).wanted);
          await edition.startOn(edition.dataDir);
        }
        const found = await untilOver(edition, id);
        noteEnd(found, name, trial.expected(kind === 'good'), journal);
        await noteVersion(edition, name, found, journal);
        // Allows the next update. Updates are refused while the database copy for a rollback exists.
        await edition.requestReliably('POST', '/system/updates/rollback/discard');
      } finally {
        over.abort();
        await following;
      }
    },
  };
};

function filesOf({ dataDir }: Edition) {
  const files = new Releases(dataDir);
  return { wanted: files.read('switch'), outcome: files.read('outcome') };
}

/** Reads the shared files ten times a second, because every release takes longer than that to start. */
async function follow(
  edition: Edition,
  trial: Trial,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const entry of trial.follow(filesOf(edition))) journal.note(entry);
    await wait(100);
  }
}

/** Waits for this step or a later one.
 *  @returns the reported step, or undefined after the update has finished */
async function untilStep(
  edition: Edition,
  step: UpdateStep,
  version: string,
): Promise<UpdateStep | undefined> {
  const ask = async () => {
    const found = await stepNow(edition, version);
    if (found === 'over') return found;
    return found !== undefined && steps.indexOf(found) >= steps.indexOf(step) ? found : undefined;
  };
  const found = await until(`the update is at "${step}"`, ask, timeoutMs);
  return found === 'over' ? undefined : found;
}

async function stepNow(
  edition: Edition,
  version: string,
): Promise<UpdateStep | 'over' | undefined> {
  const answer = await edition.ask<Updates>('/system/updates');
  if (filesOf(edition).wanted?.isTried === true)
    return answer?.current === version ? 'observe' : 'migrate';
  if (answer?.current === undefined) return undefined;
  return answer.running?.step ?? 'over';
}

async function untilOver(edition: Edition, id: string): Promise<Update> {
  const ask = async () => {
    await wait(200);
    const path = '/system/updates/history';
    const history = await edition.requestReliably<{ items: readonly Update[] }>('GET', path);
    const found = history.items.find((one) => one.id === id);
    return found === undefined || found.status === 'running' ? undefined : found;
  };
  return await until('the update is over', ask, timeoutMs);
}

function noteEnd(
  { id, status, reason }: Update,
  operation: string,
  expected: string,
  journal: Journal,
): void {
  journal.note({ what: 'concluded', operation, id, outcome: status, expected: [expected] });
  console.log(`${operation}: ${status}${reason === null ? '' : ` (${reason})`}`);
}

async function noteVersion(
  edition: Edition,
  name: string,
  { id, status, from, to }: Update,
  journal: Journal,
): Promise<void> {
  const { current: outcome } = await edition.requestReliably<Updates>('GET', '/system/updates');
  const expected = [status === 'succeeded' ? to : from];
  journal.note({ what: 'concluded', operation: `${name}, version`, id, outcome, expected });
}
