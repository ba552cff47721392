/** Where commands write: results to standard output, everything else beside it. */

export interface Terminal {
  /** One line of the result. */
  line(text: string): void;
  problem(text: string): void;
  /** How much of something is done, from 0 to 1; replaces what it showed before. */
  progress(label: string, share: number): void;
}

const width = 40;

/** A bar of fixed width: `label ██████░░░░  60 %`. */
export function bar(label: string, share: number): string {
  const shown = Math.min(1, Math.max(0, share));
  const full = Math.round(shown * width);
  const percent = String(Math.floor(shown * 100)).padStart(3);
  return `${label} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${percent} %`;
}

export const terminal: Terminal = {
  line: (text) => process.stdout.write(`${text}\n`),
  problem: (text) => process.stderr.write(`${text}\n`),
  progress: (label, share) => {
    // Where nobody watches, a bar is litter.
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r${bar(label, share)}${share >= 1 ? '\n' : ''}`);
  },
};
