/** `make run`: the whole service on one machine. */
import { resolve } from 'node:path';
import { compileCache } from './compiled.ts';
import { services } from './services.ts';
import { startSupervisor } from './supervisor.ts';
import { runInTerminal } from './terminal.ts';

const { argv, env, execPath } = process;

// As the same process once more, so that it finds itself compiled and keeps little memory.
if (env['NODE_COMPILE_CACHE'] === undefined) {
  const NODE_COMPILE_CACHE = compileCache(resolve(env['ORCH_DATA_DIR'] ?? '.orchestrator'));
  const args = [execPath, '--max-semi-space-size=1', ...argv.slice(1)];
  process.execve?.(execPath, args, { ...env, NODE_COMPILE_CACHE });
}

await runInTerminal((say, signal) => startSupervisor({ services, environment: env, say }, signal));
