/** Simulates jobs that wait for slots and share processors, as discrete events. */

/** `work` uses a processor, and `delay` does not. The job occupies a slot between `acquire` and `release`. */
export type Step =
  | { readonly kind: 'work' | 'delay'; readonly ms: number }
  | { readonly kind: 'acquire' | 'release' };

export interface Job {
  readonly arrivesAtMs: number;
  readonly steps: readonly Step[];
}

export interface System {
  readonly slots: number;
  /** The number of processors, which need not be an integer. All working jobs share them equally, and no job uses more
   *  than one processor. */
  readonly processors: number;
  /** The jobs, in order of arrival. */
  readonly jobs: readonly Job[];
}

export interface JobTimes {
  /** When the job requested, received and released a slot. */
  readonly queuedAtMs: number;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** When the job completed its last step. */
  readonly doneAtMs: number;
}

interface Active {
  readonly job: Job;
  readonly times: { -readonly [Name in keyof JobTimes]: number };
  step: number;
  leftMs: number;
}

/** Smaller differences are rounding errors. */
const precisionMs = 1e-9;

/** Simulates the jobs. Slots are assigned in the order in which they were requested.
 *  @returns the times of each job, in the order of `jobs` */
export function simulate({ slots, processors, jobs }: System): readonly JobTimes[] {
  const all: Active[] = jobs.map((job) => ({
    job,
    times: { queuedAtMs: 0, startedAtMs: 0, endedAtMs: 0, doneAtMs: 0 },
    step: -1,
    leftMs: 0,
  }));
  const busy = new Set<Active>();
  const waiting: Active[] = [];
  let [nowMs, free, arrived] = [0, slots, 0];

  /** Executes steps of the job until a step takes time or must wait. */
  const proceed = (one: Active): void => {
    for (one.step += 1; ; one.step += 1) {
      const step = one.job.steps[one.step];
      if (step === undefined) {
        one.times.doneAtMs = nowMs;
        return;
      }
      if ('ms' in step) {
        if (step.ms === 0) continue;
        one.leftMs = step.ms;
        return void busy.add(one);
      }
      if (step.kind === 'acquire') {
        one.times.queuedAtMs = nowMs;
        if (free === 0) return void waiting.push(one);
        free -= 1;
        one.times.startedAtMs = nowMs;
      } else {
        one.times.endedAtMs = nowMs;
        passSlotOn();
      }
    }
  };
  const passSlotOn = (): void => {
    const first = waiting.shift();
    if (first === undefined) {
      free += 1;
      return;
    }
    first.times.startedAtMs = nowMs;
    proceed(first);
  };

  while (arrived < all.length || busy.size > 0) {
    const speed = workSpeed(busy, processors);
    let elapsedMs = (jobs[arrived]?.arrivesAtMs ?? Infinity) - nowMs;
    for (const one of busy) elapsedMs = Math.min(elapsedMs, one.leftMs / speedOf(one, speed));
    nowMs += elapsedMs;
    const done: Active[] = [];
    for (const one of busy) {
      one.leftMs -= elapsedMs * speedOf(one, speed);
      if (one.leftMs <= precisionMs) done.push(one);
    }
    for (const one of done) busy.delete(one);
    for (const one of done) proceed(one);
    for (; (jobs[arrived]?.arrivesAtMs ?? Infinity) <= nowMs + precisionMs; arrived += 1) {
      proceed(all[arrived] as Active);
    }
  }
  return all.map(({ times }) => times);
}

const isWorking = ({ job, step }: Active) => job.steps[step]?.kind === 'work';

const speedOf = (one: Active, speed: number) => (isWorking(one) ? speed : 1);

/** Returns the share of one processor that each working job receives, which is at most 1. */
function workSpeed(busy: ReadonlySet<Active>, processors: number): number {
  let working = 0;
  for (const one of busy) working += isWorking(one) ? 1 : 0;
  return Math.min(1, processors / Math.max(working, 1));
}

/** Returns a sample from the exponential distribution. */
export function exponential(meanMs: number, random: () => number): number {
  return -meanMs * Math.log(1 - random());
}

/** Returns `count` arrival times. With `random`, the arrivals form a Poisson process. Otherwise, the intervals are
 *  equal. */
export function arrivals(
  count: number,
  perSecond: number,
  random?: () => number,
): readonly number[] {
  const meanMs = 1000 / perSecond;
  let atMs = 0;
  return Array.from({ length: count }, () => {
    const arrivesAtMs = atMs;
    atMs += random === undefined ? meanMs : exponential(meanMs, random);
    return arrivesAtMs;
  });
}
