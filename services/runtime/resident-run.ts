/** Specifies runs that resident processes execute. */
import { join } from 'node:path';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { ResidentRun, RunSpec } from './sandbox/sandbox.ts';
import { sdkFolder } from './sdk/package.ts';

/** The program of resident processes, which imports the entry point and calls its handler. */
export const residentProgram = join(sdkFolder, 'orchestrator', '_resident.py');

interface ResidentSurroundings extends Pick<ResidentRun, 'revision' | 'hold' | 'log'> {
  /** The path of the payload file. */
  readonly payload: string | undefined;
}

/** Returns the settings with which a resident process executes the run. */
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

/** Changes a specification so that a resident process executes the run. The process starts the program of resident
 *  processes, with the entry point as its argument. The payload is passed to the process for each run, because the
 *  path of the payload file changes. */
export function asResident(spec: RunSpec): RunSpec {
  const [python, entrypoint = ''] = spec.argv;
  const { ORCH_PAYLOAD_FILE: _, ...env } = spec.env;
  return { ...spec, argv: [python, residentProgram, entrypoint], env };
}
