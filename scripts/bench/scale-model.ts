/** Predicts the throughput and wait times with several runtime processes. */
import { availableParallelism } from 'node:os';
import { randomFrom } from '#services/minimal/testing/replica-chaos.ts';
import { arrivals, simulate, type Job } from './queueing.ts';

/** Properties of runs as measured with one runtime process. */
export interface RunParameters {
  /** A run's processor time before it acquires a slot, while it holds the slot, and after it releases the slot. */
  readonly cpuMs: readonly [before: number, during: number, after: number];
  /** How long each measured run occupied a slot. */
  readonly residencesMs: readonly number[];
  /** The time from accepting a run on an idle platform to starting the run. */
  readonly leastWaitMs: number;
  /** The processor time of an idle runtime process, in milliseconds per second. */
  readonly idleCpuMs: number;
  /** The share of processor time that other programs used. */
  readonly others: number;
}

export interface LoadResult {
  /** Completed runs per second. */
  readonly perSecond: number;
  /** The time from accepting to starting each run. */
  readonly waitsMs: readonly number[];
}

export interface Load {
  readonly name: string;
  readonly isSaturating: boolean;
  readonly arrivesAtMs: readonly number[];
}

/**
 * Arrival rates as fractions of the throughput. Under `overload`, runs always wait. Under `highLoad`, some runs wait.
 */
const [overload, highLoad] = [1.5, 0.8];
const runsPerSlot = 40;
const maxRuns = 240;
const seed = 1;

const runsOf = (slots: number) => Math.min(maxRuns, slots * runsPerSlot);

/** Returns a load with more runs than the slots can execute. */
export function saturation(slots: number, perSecond: number): Load {
  return {
    name: 'saturated',
    isSaturating: true,
    arrivesAtMs: arrivals(runsOf(slots), perSecond * overload),
  };
}

/** Returns two loads: saturation, and random arrivals at a high rate. */
export function loadsOf(
  parameters: RunParameters,
  runtimes: number,
  slots: number,
): readonly Load[] {
  const { cpuMs, residencesMs } = parameters;
  const cpuOfRun = cpuMs.reduce((sum, each) => sum + each, 0);
  const bySlots = (slots * 1000) / mean(residencesMs);
  const byProcessors = (processorsOf(parameters, runtimes) * 1000) / cpuOfRun;
  const saturated = saturation(slots, Math.min(bySlots, byProcessors));
  const { perSecond } = predict(parameters, runtimes, slots, saturated);
  const random = randomFrom(seed);
  return [
    saturated,
    {
      name: `${highLoad * 100} % load`,
      isSaturating: false,
      arrivesAtMs: arrivals(runsOf(slots), perSecond * highLoad, random),
    },
  ];
}

/** Simulates the load.
 *  @param slots the total number of slots of all runtimes */
export function predict(
  parameters: RunParameters,
  runtimes: number,
  slots: number,
  { arrivesAtMs }: Load,
): LoadResult {
  const [before, during, after] = parameters.cpuMs;
  const { residencesMs, leastWaitMs } = parameters;
  const random = randomFrom(seed);
  const jobs = arrivesAtMs.map((at): Job => {
    const residenceMs = residencesMs[Math.floor(random() * residencesMs.length)] ?? 0;
    return {
      arrivesAtMs: at,
      steps: [
        { kind: 'work', ms: before },
        { kind: 'acquire' },
        { kind: 'work', ms: during / 2 },
        { kind: 'delay', ms: Math.max(0, residenceMs - during) },
        { kind: 'work', ms: during / 2 },
        { kind: 'release' },
        { kind: 'work', ms: after },
      ],
    };
  });
  const times = simulate({ slots, processors: processorsOf(parameters, runtimes), jobs });
  return {
    perSecond: rateOf(times.map(({ endedAtMs }) => endedAtMs)),
    waitsMs: times.map(({ queuedAtMs, startedAtMs }) => startedAtMs - queuedAtMs + leastWaitMs),
  };
}

function processorsOf({ others, idleCpuMs }: RunParameters, runtimes: number): number {
  return availableParallelism() * (1 - others) - (runtimes * idleCpuMs) / 1000;
}

/** Returns finished runs per second between the 20th and the 80th percentile of the end times, when all slots are in
 *  use. */
export function rateOf(endsAtMs: readonly number[]): number {
  const sorted = endsAtMs.toSorted((one, other) => one - other);
  const [from = 0, to = 0] = [0.2, 0.8].map((part) => Math.floor(part * (sorted.length - 1)));
  return (1000 * (to - from)) / ((sorted[to] ?? 0) - (sorted[from] ?? 0));
}

export const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
