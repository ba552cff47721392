/** `make run`: the whole service on one machine. */
import { resolve } from 'node:path';
import { Releases } from '#services/shared/releases.ts';
import { compileCache } from './compiled.ts';
import { goOnAs, guardedVariable } from './releases/started-as.ts';
import { untilSwitch } from './releases/until-switch.ts';
import { services } from './services.ts';
import { startSupervisor } from './supervisor.ts';
import { runInTerminal } from './terminal.ts';

const { argv, env, execPath } = process;
const dataDir = resolve(env['ORCH_DATA_DIR'] ?? '.orchestrator');
const releases = new Releases(dataDir);
const isGuarded = env[guardedVariable] !== undefined;

/** Becomes another program, as the same process. */
function become(entry: string | undefined): void {
  const args = [execPath, '--max-semi-space-size=1', entry ?? argv[1] ?? '', ...argv.slice(2)];
  process.execve?.(execPath, args, { ...env, NODE_COMPILE_CACHE: compileCache(dataDir) });
}

const other = goOnAs(releases, isGuarded);
// As the same process once more, so that it finds itself compiled and keeps little memory.
if (other !== undefined || env['NODE_COMPILE_CACHE'] === undefined) become(other);

/** A service that does not stay up makes a failure of an update. */
function tellGuard(what: string): void {
  if (process.connected) process.send?.({ ended: what });
}

// Child processes must not see this variable.
const { [guardedVariable]: _, ...environment } = env;

await runInTerminal(
  (say, signal) => startSupervisor({ services, environment, say, onEnd: tellGuard }, signal),
  (signal) => untilSwitch(releases, signal),
);
// All services have stopped. A running guard detects the requested switch.
if (!isGuarded && releases.read('switch') !== undefined) become(goOnAs(releases, false));
process.exit(0);
