/** `make run`: the whole service on one machine. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Releases } from '#services/shared/releases.ts';
import { collectWhenIdle } from '#services/shared/idle-collection.ts';
import { compileCache, mergedPrograms, oneArena, type Program } from './programs/compiled.ts';
import { programToStart, guardedVariable } from './releases/started-as.ts';
import { untilSwitch } from './releases/until-switch.ts';
import { runInTerminal } from './terminal.ts';

const { argv, env, execPath } = process;
const dataDir = resolve(env['ORCH_DATA_DIR'] ?? '.orchestrator');
const releases = new Releases(dataDir);
const self: Program = { name: 'minimal', entry: fileURLToPath(import.meta.url) };
const isGuarded = env[guardedVariable] !== undefined;

/** Replaces this process with another program (execve). */
function become(entry: string | undefined): void {
  const args = [
    execPath,
    '--max-semi-space-size=1',
    entry ?? mergedPrograms(dataDir).get(self.entry) ?? self.entry,
    ...argv.slice(2),
  ];
  process.execve?.(execPath, args, { ...env, ...compileCache(dataDir), ...oneArena });
}

const other = programToStart(releases, isGuarded);
// Replaces this process with a new instance of the program, which uses the compiled code and less memory.
if (other !== undefined || env['NODE_COMPILE_CACHE'] === undefined) become(other);
// Imported here so that a process does not compile these modules just before it is replaced.
const [{ services }, { startSupervisor }] = await Promise.all([
  import('./services.ts'),
  import('./supervisor.ts'),
]);

/** Reports a service exit to the guard. The exit causes an update to fail. */
function notifyGuard(what: string): void {
  if (process.connected) process.send?.({ ended: what });
}

// Child processes must not inherit this variable.
const { [guardedVariable]: _, ...environment } = env;

collectWhenIdle();
await runInTerminal(
  (say, signal) =>
    startSupervisor(
      { services, merged: [...services, self], environment, say, onEnd: notifyGuard },
      signal,
    ),
  (signal) => untilSwitch(releases, signal),
);
// All services have stopped. If a switch to another release was requested, this process becomes the guard. A guard that
// is already running performs the switch itself.
if (!isGuarded && releases.read('switch') !== undefined) become(programToStart(releases, false));
process.exit(0);
