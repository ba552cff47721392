import { readFile } from 'node:fs/promises';

/** Returns the source of a script whose first statement appends the current time to a file. */
export function appending(file: string): string {
  return `import time\nprint(time.time(), file=open(${JSON.stringify(file)}, 'a'))\n`;
}

/** Reads the times written by `appending`, in milliseconds since 1970. */
export async function timesIn(file: string): Promise<readonly number[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => Number(line) * 1000);
}
