/** Prompts at the terminal. */
import { Writable } from 'node:stream';
import { CommandProblem, exitCodes, usageProblem } from './problem.ts';

const signInOptions = 'Pass --email and --password-stdin, or --token-stdin.';

/** @param suggestion the value for an empty input */
export async function askLine(question: string, suggestion?: string): Promise<string> {
  requireTerminal(signInOptions);
  const shown = suggestion === undefined ? question : `${question} [${suggestion}]`;
  const answer = (await ask(`${shown}: `, process.stderr)).trim();
  if (answer === '' && suggestion === undefined) throw usageProblem(`${question} is missing.`);
  return answer === '' ? (suggestion ?? '') : answer;
}

/** Prompts without showing the input.
 *  @param instead the option that the error suggests if there is no terminal */
export async function askHidden(question: string, instead = signInOptions): Promise<string> {
  requireTerminal(instead);
  process.stderr.write(`${question}: `);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await ask('', nowhere);
  process.stderr.write('\n');
  return answer;
}

/** Asks for confirmation.
 *  @throws CommandProblem if there is no terminal */
export async function confirm(question: string): Promise<boolean> {
  requireTerminal('Pass --yes to confirm.');
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `, process.stderr)).trim());
}

function requireTerminal(instead: string): void {
  if (!process.stdin.isTTY) throw usageProblem(`Cannot prompt without a terminal. ${instead}`);
}

async function ask(question: string, output: NodeJS.WritableStream): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const closed = new AbortController();
  lines.once('SIGINT', () => closed.abort());
  lines.once('close', () => closed.abort());
  try {
    return await lines.question(question, { signal: closed.signal });
  } catch (error) {
    throw new CommandProblem(exitCodes.interrupted, 'Nothing was entered.', { cause: error });
  } finally {
    lines.close();
  }
}
