/** The output of commands: results to standard output, everything else to standard error. */
import { once } from 'node:events';
import { exitCodes } from './problem.ts';

export interface Terminal {
  /** Whether to show results in color. False if no person reads them. */
  readonly colors: boolean;
  /** One line of the result. */
  line(text: string): void;
  /** Writes a part of the result unchanged. */
  write(bytes: Uint8Array): void;
  problem(text: string): void;
  /** Shows progress from 0 to 1, in place of the previous value. */
  progress(label: string, share: number): void;
  /** Resolves when the output has been written. Await it, so that output does not accumulate in memory if the reader is
   *  slow. */
  drained(): Promise<void>;
}

const width = 40;

/** A bar of fixed width: `label ██████░░░░  60 %`. */
export function bar(label: string, share: number): string {
  const shown = Math.min(1, Math.max(0, share));
  const full = Math.round(shown * width);
  const percent = String(Math.floor(shown * 100)).padStart(3);
  return `${label} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${percent} %`;
}

/** The terminal of this process. The process ends when the reader of its output closes the pipe. */
export function openTerminal(environment: Readonly<Record<string, string | undefined>>): Terminal {
  const { stdout, stderr } = process;
  stdout.on('error', endOnClosedPipe);
  stderr.on('error', () => process.exit(exitCodes.closedPipe));
  return {
    // Colors are off if NO_COLOR is set and not empty (https://no-color.org).
    colors: stdout.isTTY && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb',
    line: (text) => stdout.write(`${text}\n`),
    write: (bytes) => stdout.write(bytes),
    problem: (text) => stderr.write(`${text}\n`),
    progress: (label, share) => {
      // Shows no progress bar without a terminal.
      if (!stderr.isTTY) return;
      stderr.write(`\r${bar(label, share)}${share >= 1 ? '\n' : ''}`);
    },
    drained: async () => {
      if (stdout.writableNeedDrain) await once(stdout, 'drain');
    },
  };
}

function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') {
    process.stderr.write('The output was closed early; the rest was discarded.\n');
    process.exit(exitCodes.closedPipe);
  }
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exit(exitCodes.inputOutput);
}
