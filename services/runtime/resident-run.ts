/** The specification of a run that a resident process executes. */
import { join } from 'node:path';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { ResidentRun, RunSpec } from './sandbox/sandbox.ts';
import { sdkFolder } from './sdk/package.ts';

/** Imports the entry point and calls its handler. */
export const residentProgram = join(sdkFolder, 'orchestrator', '_resident.py');

interface ResidentSurroundings extends Pick<ResidentRun, 'revision' | 'hold' | 'log'> {
  /** Path of the payload's file. */
  readonly payload: string | undefined;
}

/** How a resident process executes the run. */
export function residentRun(
  { resident: settings }: ClaimedRun,
  { payload, ...surroundings }: ResidentSurroundings,
): ResidentRun {
  return {
    ...surroundings,
    idleSeconds: settings.idle_seconds,
    maxRuns: settings.max_runs,
    processes: settings.processes,
    ...(payload !== undefined && { payload }),
  };
}

/** Starts the program of resident processes with the entry point as its argument. The process receives the payload
 *  itself, because the path of its file differs from run to run. */
export function asResident(spec: RunSpec): RunSpec {
  const [python, entrypoint = ''] = spec.argv;
  const { ORCH_PAYLOAD_FILE: _, ...env } = spec.env;
  return { ...spec, argv: [python, residentProgram, entrypoint], env };
}
