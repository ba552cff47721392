/** Entry point of the command line (docs/cli.md). */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

// Caches compiled modules, so that later starts take a third of the time. If the folder is not writable, nothing
// is cached. `orchestrator` does the same for this module.
const { HOME: home, XDG_CACHE_HOME: given } = process.env;
const caches = given || (home && join(home, '.cache'));
if (caches) enableCompileCache(join(caches, 'orchestrator'));
const [{ runLine }, { openTerminal }] = await Promise.all([
  import('./program.ts'),
  import('./terminal.ts'),
]);

const interrupted = new AbortController();
// The second signal ends the process if the first did not.
process.once('SIGINT', () => interrupted.abort());
const code = await runLine(process.argv.slice(2), {
  terminal: openTerminal(process.env),
  environment: process.env,
  folder: process.cwd(),
  signal: interrupted.signal,
  input: () => text(process.stdin),
});
process.exitCode = code;
