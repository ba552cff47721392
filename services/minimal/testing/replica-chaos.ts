/** Kills a fleet's processes in an order that depends on a seed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { TestFront } from '#infra/testing/front.ts';
import type { TestNatsServer } from '#infra/testing/nats-server.ts';
import type { Fleet } from './fleet.ts';

/** Returns a generator of pseudo-random numbers from 0 to 1 (mulberry32). The numbers depend only on the seed. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Chaos {
  readonly fleet: Fleet;
  readonly nats: TestNatsServer | undefined;
  readonly front: TestFront | undefined;
  readonly seed: number;
  readonly kills: number;
  /** Returns the fraction of the work that has been requested, from 0 to 1. */
  readonly progress: () => number;
}

const kinds = ['backend', 'scheduler', 'runtime'] as const;
/** The fraction of processes that are stopped gracefully instead of killed. */
const politely = 0.25;

/** Ends and restarts processes while the work progresses. Each kind of process has its turn, and a random replica is
 *  chosen.
 *  @returns the names of the ended processes, in order */
export async function killAtRandom(chaos: Chaos): Promise<readonly string[]> {
  const { fleet, seed, kills, progress } = chaos;
  const random = randomFrom(seed);
  const killed: string[] = [];
  for (let number = 1; number <= kills; number += 1) {
    while (progress() < number / (kills + 1)) await pause(20);
    const those = fleet.of(kinds[number % kinds.length] ?? 'runtime');
    const victim = those[Math.floor(random() * those.length)];
    if (victim === undefined) continue;
    const isPolite = random() < politely;
    await victim.end(isPolite ? 'SIGTERM' : 'SIGKILL');
    victim.start();
    killed.push(isPolite ? `${victim.name} (asked)` : victim.name);
    const serverName = number % 2 === 0 ? 'front' : 'nats';
    const server = chaos[serverName];
    if (server === undefined) continue;
    await server.kill();
    await server.restart();
    killed.push(serverName);
  }
  await fleet.untilHealthy();
  return killed;
}
