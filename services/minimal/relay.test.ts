import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLogFile } from '#infra/system/log-file.ts';
import { createRelay, shownText } from './relay.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-relay-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a line from a service', () => {
  test.each([
    ['{"level":"info","message":"started"}', undefined],
    ['{"level":"warn","message":"slow"}', 'slow'],
    ['{"level":"error","message":"lost","error":{"message":"no disk"}}', 'lost: no disk'],
    ['{"level":"fatal","message":"wrong","problems":["a","b"]}', 'wrong: a: b'],
    ['Segmentation fault', 'Segmentation fault'],
    ['{ not json', '{ not json'],
    ['', undefined],
  ])('is omitted, unwrapped or unchanged in the terminal: %s becomes %s', (line, shown) => {
    expect(shownText(line)).toBe(shown);
  });

  test('is always written to the log file, even if the terminal omits it during a burst', async () => {
    const said: string[] = [];
    let nowMs = 0;
    const path = join(folder, 'x.log');
    const relay = createRelay(
      'x',
      openLogFile(path),
      (line) => said.push(line),
      () => nowMs,
    );
    const print = async (count: number): Promise<void> => {
      const stream = new PassThrough();
      relay.attach(stream);
      stream.end('broken\n'.repeat(count));
      await finished(stream);
    };
    await print(20);
    expect(said).toEqual([
      ...Array.from({ length: 5 }, () => 'x: broken'),
      'x: and more, see its log',
    ]);
    nowMs = 11_000;
    await print(1);
    expect(said).toHaveLength(7);
    expect(readFileSync(path, 'utf8')).toBe('broken\n'.repeat(21));
  });
});
