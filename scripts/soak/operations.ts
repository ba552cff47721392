/** Operations of an administrator during the load, killed at random times. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { send, type Edition } from './edition.ts';
import type { Fault } from './faults.ts';
import type { Journal } from './journal.ts';

export interface Operation {
  readonly name: string;
  /** Requests the operation. @returns its ID */
  begin(edition: Edition, journal: Journal): Promise<string>;
  /** The step that the platform reports; undefined while it does not respond. */
  stepOf(edition: Edition, id: string): Promise<string | undefined>;
  /** Waits for the end of the operation, and records the outcome. */
  conclude(edition: Edition, id: string, journal: Journal): Promise<void>;
}

/** The process `backend` also runs the scheduler. */
export type Victim = 'everything' | 'backend' | 'postgres';

export interface KillOptions {
  readonly journal: Journal;
  /** Returns random numbers from 0 to 1. */
  readonly random: () => number;
  /** The processes to kill during an operation, one after another. */
  readonly victims: readonly Victim[];
}

/** First runs the operation without a kill to measure its duration. Then kills it at random times within that
 *  duration. */
export function strikesAt(operation: Operation, options: KillOptions): readonly Fault[] {
  let tookMs = 0;
  const inPeace: Fault = {
    name: operation.name,
    async inflict(edition) {
      tookMs = await perform(edition, operation, options.journal);
    },
  };
  return [
    inPeace,
    ...options.victims.map((each) => killDuring(operation, each, options, () => tookMs)),
  ];
}

/** Kills the operation once.
 *  @param withinMs latest time of the kill, in milliseconds from the start of the operation */
function killDuring(
  operation: Operation,
  victim: Victim,
  { journal, random }: Pick<KillOptions, 'journal' | 'random'>,
  withinMs: () => number,
): Fault {
  const { name } = operation;
  return {
    name: `${name}, ${victim} killed`,
    async inflict(edition) {
      await perform(edition, operation, journal, async (id) => {
        await wait(random() * withinMs());
        const step = (await operation.stepOf(edition, id)) ?? 'no answer';
        journal.note({ what: 'struck', operation: name, id, step });
        await kill(edition, victim);
      });
    },
  };
}

/** @returns the duration in milliseconds */
async function perform(
  edition: Edition,
  operation: Operation,
  journal: Journal,
  meanwhile?: (id: string) => Promise<void>,
): Promise<number> {
  const id = await operation.begin(edition, journal);
  journal.note({ what: 'begun', operation: operation.name, id });
  const startedMs = performance.now();
  await meanwhile?.(id);
  await operation.conclude(edition, id, journal);
  return performance.now() - startedMs;
}

/** Kills the victim's processes. After killing all processes, the test starts the platform again. In the other cases,
 *  the platform restarts the killed processes. */
export async function kill(edition: Edition, victim: Victim): Promise<void> {
  if (victim === 'everything') return await edition.killAll();
  for (const pid of await edition.pidsOf(victim)) send(pid, 'SIGKILL');
}
