import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import type { NewEvent } from '#domain/kernel/event.ts';

/** Returns the path of pgbench, either on the PATH or where Debian installs it. */
export function findPgbench(): string | undefined {
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'pgbench'));
  return [...onPath, ...globSync('/usr/lib/postgresql/*/bin/pgbench')].find((file) =>
    existsSync(file),
  );
}

/** Measures how fast a single client appends events like `event`, each to a new stream, with a prepared statement.
 *  @returns appends per second, without the connection time */
export function pgbenchAppends(
  pgbench: string,
  url: string,
  { type, data, metadata }: NewEvent,
  appends: number,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'pgbench-'));
  const script = join(folder, 'append.sql');
  // pgbench would interpret a colon followed by a word as a variable.
  const json = (value: unknown) =>
    `ARRAY['${JSON.stringify(value).replaceAll('":', '": ')}']::jsonb[]`;
  const append = [
    'SELECT stream, at_version, transaction, place FROM append_events(',
    "ARRAY['measured-' || :number], ARRAY['measured'], ARRAY[0]::bigint[], ARRAY[1]::bigint[],",
    "ARRAY['measured-' || :number], ARRAY[1]::bigint[], ARRAY[uuidv7()],",
    `ARRAY['${type}'], ARRAY[1], ${json(data)}, ${json(metadata)}, now());`,
  ];
  writeFileSync(script, `\\set number random(1, 9000000000000000000)\n${append.join(' ')}\n`);
  const options = ['--no-vacuum', '--client=1', '--protocol=prepared'];
  try {
    const output = execFileSync(
      pgbench,
      [...options, `--transactions=${appends}`, `--file=${script}`, url],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [, rate] = /tps = ([\d.]+)/.exec(output) ?? [];
    if (rate === undefined) throw new Error(`pgbench printed no rate:\n${output}`);
    return Promise.resolve(Number(rate));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
