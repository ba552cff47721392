import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLogFile } from './log-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-log-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a log file', () => {
  test('is rotated when full, and the previous file is kept', () => {
    const path = join(folder, 'x.log');
    const file = openLogFile(path, 10);
    for (const line of ['one', 'two', 'three', 'four', 'five', 'six']) file.write(line);
    file.close();
    const again = openLogFile(path, 10);
    again.write('seven');
    again.close();
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('four\nfive\n');
    expect(readFileSync(path, 'utf8')).toBe('six\nseven\n');
  });

  test('does not fail a write when the disk is full', () => {
    const path = join(folder, 'x.log');
    symlinkSync('/dev/full', path);
    const file = openLogFile(path);
    file.write('one');
    file.write('two');
    file.close();
  });

  test('reports lost lines with the next successful write', () => {
    const path = join(folder, 'x.log');
    mkdirSync(path);
    const file = openLogFile(path);
    file.write('one');
    file.write('two');
    rmdirSync(path);
    file.write('three');
    file.write('four');
    file.close();
    const report = '8 bytes of this log are lost: they could not be written (EISDIR)';
    expect(readFileSync(path, 'utf8')).toBe(`\n${report}\nthree\nfour\n`);
  });

  test('keeps its content when it cannot be rotated', () => {
    const path = join(folder, 'x.log');
    const [full, later] = ['x'.repeat(100), 'y'.repeat(10)];
    const file = openLogFile(path, 100);
    file.write(full);
    mkdirSync(`${path}.1`);
    file.write(later);
    expect(readFileSync(path, 'utf8')).toBe(`${full}\n`);
    rmdirSync(`${path}.1`);
    file.write('three');
    file.close();
    expect(readFileSync(`${path}.1`, 'utf8')).toBe(`${full}\n`);
    expect(readFileSync(path, 'utf8')).toContain('11 bytes of this log are lost');
  });
});
