import { delimiter, join } from 'node:path';
import { isReservedVariable } from '#domain/script/environment.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { PayloadFile } from './payload-file.ts';

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The sources of a run's variables in addition to the run itself. */
export interface RunSurroundings {
  readonly environmentFolder: string;
  /** JSON text of the run's parameters. */
  readonly params: string;
  /** Secrets that are variables, by name; they take precedence over the author's variables. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Path of the run's private socket. */
  readonly socket: string;
  /** Present for a run started by a webhook. */
  readonly payload?: PayloadFile;
}

/** The complete environment of a run (contract §5); nothing of the platform's own is inherited. */
export function runVariables(
  run: ClaimedRun,
  { environmentFolder, params, secrets, socket, payload }: RunSurroundings,
): Readonly<Record<string, string>> {
  const own = Object.entries({ ...run.environment, ...secrets }).filter(
    ([name]) => !isReservedVariable(name),
  );
  return {
    LANG: 'C.UTF-8',
    ...Object.fromEntries(own),
    ORCH_RUN_ID: run.runId,
    ORCH_SCRIPT_ID: run.scriptId,
    ORCH_SCRIPT_VERSION: String(run.scriptVersion),
    ORCH_TRIGGER_TYPE: run.triggerType,
    ORCH_ATTEMPT: String(run.attempt),
    ORCH_PARAMS: params,
    ORCH_SOCKET: socket,
    // Enables the hook that reports uncaught exceptions. The hook removes this variable. A resident process reports the
    // errors of its handler itself.
    ...(run.startMode !== 'resident' && { ORCH_REPORT_ERRORS: '1' }),
    ...(payload !== undefined && {
      ORCH_PAYLOAD_FILE: payload.path,
      ORCH_PAYLOAD_HEADERS: payload.headers,
    }),
    PATH: [join(environmentFolder, 'bin'), systemPath].join(delimiter),
    VIRTUAL_ENV: environmentFolder,
    // Python would otherwise buffer output to a pipe, but users follow the log live.
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

/** Variables that contain the workspace's path as the script sees it. */
export const workspaceVariables: readonly string[] = ['HOME', 'PWD'];
