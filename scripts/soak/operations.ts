/** Administrator operations under load, interrupted by kills at random times. */
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { send, type Edition } from './edition.ts';
import type { Fault } from './faults.ts';
import type { Journal } from './journal.ts';

export interface Operation {
  readonly name: string;
  /** Requests the operation.
   *  @returns the operation's ID */
  begin(edition: Edition, journal: Journal): Promise<string>;
  /** Returns the step that the platform reports, or undefined while the platform does not respond. */
  stepOf(edition: Edition, id: string): Promise<string | undefined>;
  /** Waits for the operation to finish, and records its outcome. */
  conclude(edition: Edition, id: string, journal: Journal): Promise<void>;
}

/** The process `backend` also runs the scheduler. */
export type Victim = 'everything' | 'backend' | 'postgres';

export interface KillOptions {
  readonly journal: Journal;
  /** Returns random numbers from 0 to 1. */
  readonly random: () => number;
  /** The processes to kill, one per execution of the operation. */
  readonly victims: readonly Victim[];
}

/** Executes the operation once without a kill, to measure its duration. Later executions are interrupted at a random
 *  time within that duration. */
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

/** Executes the operation and kills the victim at a random time.
 *  @param withinMs the maximum delay of the kill after the start of the operation, in milliseconds */
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

/** @returns the operation's duration in milliseconds */
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

/** Kills the victim's processes. If all processes are killed, the test starts the platform again. Otherwise, the
 *  platform restarts the killed processes. */
export async function kill(edition: Edition, victim: Victim): Promise<void> {
  if (victim === 'everything') return await edition.killAll();
  for (const pid of await edition.pidsOf(victim)) send(pid, 'SIGKILL');
}
