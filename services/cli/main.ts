/** The command line: docs/cli.md. */
import { text } from 'node:stream/consumers';
import { runLine } from './program.ts';
import { openTerminal } from './terminal.ts';

const interrupted = new AbortController();
// What does not end by itself at the first ends at the second.
process.once('SIGINT', () => interrupted.abort());
const code = await runLine(process.argv.slice(2), {
  terminal: openTerminal(process.env),
  environment: process.env,
  folder: process.cwd(),
  signal: interrupted.signal,
  input: () => text(process.stdin),
});
process.exitCode = code;
