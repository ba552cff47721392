/** Clock faults: the wall clock of one kind of process jumps, while the machine's clock stays unchanged. */
import { chmodSync, globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '#services/minimal/testing/product.ts';
import type { Fault } from './faults.ts';
import type { Edition } from './edition.ts';

export const clockedKinds = ['runtime', 'backend', 'postgres'] as const;
export type ClockedKind = (typeof clockedKinds)[number];

/** How long a clock stays wrong after the platform has raised the alarm. */
const wrongForMs = 8_000;

export class Clocks {
  /** Environment variables to set for the supervisor. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #folder: string;

  private constructor(library: string) {
    // PostgreSQL's account must be able to read its clock file.
    this.#folder = mkdtempSync(join(tmpdir(), 'orch-clocks-'));
    chmodSync(this.#folder, 0o755);
    for (const kind of clockedKinds) this.set(kind, 0);
    this.variables = {
      NODE_OPTIONS: `--import=${new URL('clock-preload.ts', import.meta.url).href}`,
      CLOCK_LIBRARY: library,
      CLOCK_FOLDER: this.#folder,
    };
  }

  /** @returns undefined if libfaketime is not installed */
  static open(): Clocks | undefined {
    const [library] = globSync('/usr/lib/{*/,}faketime/libfaketime.so.1');
    return library === undefined ? undefined : new Clocks(library);
  }

  /** Shifts the clock of all processes of one kind, within one second.
   *  @param seconds the offset from the machine's clock */
  set(kind: ClockedKind, seconds: number): void {
    const file = join(this.#folder, kind);
    writeFileSync(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`);
    renameSync(`${file}.new`, file);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** Makes the clock jump, waits for the alarm, then corrects the clock. Fails if the platform raises no alarm. */
const clockJump = (clocks: Clocks, kind: ClockedKind, seconds: number): Fault => ({
  name: `clock of ${kind} ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`,
  async inflict(edition) {
    clocks.set(kind, seconds);
    await untilAlarm(edition, true);
    await wait(wrongForMs);
    clocks.set(kind, 0);
    await untilAlarm(edition, false);
  },
});

async function untilAlarm(edition: Edition, isWanted: boolean): Promise<void> {
  await until(`the alarm about clocks is ${isWanted ? 'on' : 'off'}`, async () => {
    await wait(100);
    const answer = await edition.ask<{ alarms: readonly { name: string }[] }>('/system/info');
    if (answer?.alarms === undefined) return undefined;
    return answer.alarms.some(({ name }) => name === 'clock_difference') === isWanted || undefined;
  });
}

/** Jumps of one hour in both directions, and a jump shorter than most timeouts. */
export function clockFaults(clocks: Clocks, kinds: readonly ClockedKind[]): readonly Fault[] {
  return kinds.flatMap((kind) =>
    [3600, -3600, 45].map((seconds) => clockJump(clocks, kind, seconds)),
  );
}
