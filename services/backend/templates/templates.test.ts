import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPython } from '#services/runtime/sandbox/python.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { templateFiles, templateIds, type TemplateId } from './templates.ts';

const run = promisify(execFile);

const expected: Readonly<Record<TemplateId | 'blank', RegExp>> = {
  blank: /^Hello, world!\n$/,
  'http-monitor': /^up {3}data:text\/plain,all%20is%20well \(read in \d+ ms\)\n1 of 1 up\n$/m,
  'chat-bot': /^you: \/sum 1 2 3\.5\nbot: 6\.5$/m,
  'etl-job': /^6 orders, 1 rows rejected\nDE {5}278\.00\nFR {5}127\.40\nNL {6}81\.90\n$/,
  'resident-handler': /^Hello, world!\n$/,
};

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

describe.each([undefined, ...templateIds])('the template %s', (id) => {
  test('runs unchanged, without network access or settings', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orch-template-'));
    folders.push(folder);
    const files = await templateFiles(id);
    for (const { path, content } of files) await writeFile(join(folder, path), content);
    const python = await findPython({ path: process.env['PATH'] ?? '' });
    const started = run(python.executable, ['main.py'], { cwd: folder, env: {}, timeout: 20_000 });
    started.child.stdin?.end();
    const { stdout, stderr } = await started;
    expect(stderr).toBe('');
    expect(stdout).toMatch(expected[id ?? 'blank']);
    expect(files.map((file) => file.path).includes('README.md')).toBe(id !== undefined);
  });
});
