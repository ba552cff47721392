/** Runs a command line and returns its exit code. */
import { ApiProblem } from '#services/shared/api-client.ts';
import { version } from '#services/shared/version.ts';
import { apiCommands } from './api/commands.ts';
import type { Command, Use } from './command.ts';
import { api } from './commands/api.ts';
import { backupCreate, backupDownload, backupList } from './commands/backups.ts';
import { completionCommand } from './commands/completion.ts';
import { doctor } from './commands/doctor.ts';
import { login, logout, profiles } from './commands/login.ts';
import { auditVerify, scheduleCreate, schedulePreview } from './commands/operate.ts';
import {
  backupRestore,
  backupVerify,
  projectionsList,
  projectionsRebuild,
  setup,
  start,
  resetPassword,
} from './commands/server.ts';
import { logs, newScript, run, runs, scripts, stop } from './commands/runs.ts';
import { diff, pull, push } from './commands/sync.ts';
import { updatesDiscard, updatesList, updatesRollback } from './commands/updates.ts';
import { groupAsked, helpOf, helpOfGroup, overview } from './help.ts';
import { parseLine, type Parsed } from './options.ts';
import { explainNoResponse, repeatWarning } from './no-response.ts';
import { CommandProblem, exitCodes } from './problem.ts';
import { openSession } from './session.ts';
import { plainLines } from './table.ts';

/** Handwritten commands, which send more than one request. */
export const ownCommands: readonly Command[] = [
  login,
  logout,
  profiles,
  scripts,
  newScript,
  run,
  logs,
  runs,
  stop,
  pull,
  diff,
  push,
  schedulePreview,
  scheduleCreate,
  auditVerify,
  backupCreate,
  backupList,
  backupDownload,
  start,
  setup,
  projectionsList,
  projectionsRebuild,
  resetPassword,
  backupVerify,
  backupRestore,
  updatesList,
  updatesRollback,
  updatesDiscard,
  doctor,
  api,
  completionCommand(() => commands()),
];

/** All commands. When a command line is parsed, the first match applies. */
export const commands = (): readonly Command[] => [...ownCommands, ...apiCommands()];

/** Runs a command line, and reports every failure.
 *  @returns the exit code */
export async function runLine(
  line: readonly string[],
  around: Omit<Use, 'args' | 'options' | 'session'>,
): Promise<number> {
  const { terminal, environment } = around;
  let address: string | undefined;
  let asked: Parsed | undefined;
  try {
    if (line[0] === '--version' || line[0] === 'version') {
      terminal.line(version);
      return exitCodes.done;
    }
    const all = commands();
    const group = groupAsked(line, all);
    const parsed = group === undefined ? parseLine(line, all) : undefined;
    if (parsed === undefined || parsed.options.has('help')) {
      const general = group === undefined ? overview(ownCommands, all) : helpOfGroup(group, all);
      terminal.line(parsed === undefined ? general : helpOf(parsed.command, all));
      return exitCodes.done;
    }
    asked = parsed;
    const { command, args, options } = parsed;
    const session = async () => {
      const opened = await openSession(environment, around.signal, options.text('profile'));
      address = opened.url;
      return opened;
    };
    return await command.run({ ...around, args, options, session });
  } catch (error) {
    const { exitCode, message } = told(error, address, asked);
    terminal.problem(plainLines(message));
    return exitCode;
  }
}

function told(
  error: unknown,
  address = 'The server',
  asked: Parsed | undefined,
): { exitCode: number; message: string } {
  if (error instanceof CommandProblem) return error;
  if (error instanceof ApiProblem) return describeApiProblem(error, address, asked);
  if (error instanceof Error && error.name === 'AbortError') {
    return { exitCode: exitCodes.interrupted, message: 'Interrupted.' };
  }
  if (isCutOff(error)) {
    const problem = new ApiProblem(503, 'unavailable', '', { cause: error });
    return describeApiProblem(problem, address, asked);
  }
  const isSystem = error instanceof Error && 'syscall' in error;
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: isSystem ? exitCodes.inputOutput : exitCodes.internal, message };
}

/** Whether the connection ended before the whole response of a download had arrived. */
function isCutOff(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}

/** The commands that list the possible values of a first argument. */
const listed: Readonly<Record<string, string>> = {
  SCRIPT: 'scripts',
  RUN: 'runs',
  BACKUP: 'backup list',
};

function describeApiProblem(
  error: ApiProblem,
  address: string,
  asked: Parsed | undefined,
): { exitCode: number; message: string } {
  const { status, code, cause, mayBeDone } = error;
  const message = `${error.message}${mayBeDone ? ` ${repeatWarning}` : ''}`;
  if (cause !== undefined) {
    return {
      exitCode: exitCodes.unavailable,
      message: explainNoResponse(address, cause, mayBeDone),
    };
  }
  if (status === 401) {
    return {
      exitCode: exitCodes.noPermission,
      message: 'The token has expired or was revoked. Sign in again: orchestrator login',
    };
  }
  if (status === 403) return { exitCode: exitCodes.noPermission, message };
  if (status === 404) {
    const [what = ''] = asked?.command.arguments.split(' ') ?? [];
    const list = listed[what];
    const named = `No ${what.toLowerCase()} "${asked?.args[0]}" found. List yours: orchestrator ${list}`;
    return { exitCode: exitCodes.notFound, message: list === undefined ? message : named };
  }
  if (status === 503 || code === 'redirect') return { exitCode: exitCodes.unavailable, message };
  return { exitCode: status < 500 ? exitCodes.refused : exitCodes.internal, message };
}
