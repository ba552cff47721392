import { delimiter, join } from 'node:path';
import { isReservedVariable } from '#domain/script/environment.ts';
import type { ClaimedRun } from '#domain/ports/run-queue.ts';
import type { PayloadFile } from './payload-file.ts';

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The data, besides the run itself, that determines a run's variables. */
export interface RunSurroundings {
  readonly environmentFolder: string;
  /** The run's parameters as JSON text. */
  readonly params: string;
  /** The values of secrets, by variable name. They take precedence over variables that the author has set. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The path of the run's private socket. */
  readonly socket: string;
  /** Present only for runs started by a webhook. */
  readonly payload?: PayloadFile;
}

/** Returns the complete environment of a run (contract §5). The run inherits no variables from the platform. */
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
    // Enables the hook that reports uncaught exceptions. The hook removes this variable. A resident process reports its
    // handler's errors itself.
    ...(run.startMode !== 'resident' && { ORCH_REPORT_ERRORS: '1' }),
    ...(payload !== undefined && {
      ORCH_PAYLOAD_FILE: payload.path,
      ORCH_PAYLOAD_HEADERS: payload.headers,
    }),
    PATH: [join(environmentFolder, 'bin'), systemPath].join(delimiter),
    VIRTUAL_ENV: environmentFolder,
    // Disables the buffering of output to a pipe, because users follow the log live.
    PYTHONUNBUFFERED: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

/** Variables that contain the workspace's path inside the sandbox. */
export const workspaceVariables: readonly string[] = ['HOME', 'PWD'];
