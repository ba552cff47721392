import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { askInterpreter } from '../environments/interpreter.ts';
import { makeVirtualEnvironment } from '../environments/virtual-environment.ts';
import { startVariables } from '../sandbox/keeper-process.ts';
import { findPython } from '../sandbox/python.ts';
import { WarmStarts, type WarmQuestion } from './warm-start.ts';

const script = {
  scriptId: 'script',
  scriptVersion: 1,
  startMode: 'warm',
  entrypoint: 'main.py',
} as const;

describe('a warm start', () => {
  let folder: string;
  let question: WarmQuestion;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orch-warm-'));
    const python = await findPython({
      configured: process.env['ORCH_PYTHON'],
      path: process.env['PATH'] ?? '',
    });
    const environmentFolder = join(folder, 'environment');
    await makeVirtualEnvironment(environmentFolder, await askInterpreter(python.executable));
    question = {
      run: script as WarmQuestion['run'],
      files: [await file('main.py', 'import json, pandas')],
      environmentFolder,
      interpreter: python,
      variables: { ...startVariables, OWN: '1' },
    };
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function file(path: string, text: string) {
    const source = join(folder, path);
    await mkdir(join(source, '..'), { recursive: true });
    await writeFile(source, text);
    return { path, source, mode: 0o644 };
  }

  const answer = (change: Partial<WarmQuestion> = {}) =>
    new WarmStarts().of({ ...question, ...change });

  test("is allowed, and preloads the script's imports", async () => {
    const { executable, version } = await askInterpreter(question.interpreter.executable);
    expect(await answer()).toMatchObject({
      interpreter: { executable, version },
      modules: ['json'],
    });
  });

  test('is not allowed when the script requests cold starts', async () => {
    const run = { ...question.run, startMode: 'cold' as const };
    expect(await answer({ run })).toBeUndefined();
  });

  test.for([['LANG'], ['LC_ALL'], ['LD_PRELOAD'], ['PYTHONOPTIMIZE'], ['MALLOC_ARENA_MAX']])(
    'is not allowed with a variable %s, which affects interpreter startup',
    async ([name = '']) => {
      const variables = { ...question.variables, [name]: 'C' };
      expect(await answer({ variables })).toBeUndefined();
    },
  );

  test("is not allowed when one of the script's files shadows a library module", async () => {
    const files = [...question.files, await file('json.py', '')];
    expect(await answer({ files })).toBeUndefined();
  });

  test("is not allowed when the entry point is not one of the script's files", async () => {
    const run = { ...question.run, entrypoint: 'other.py' };
    expect(await answer({ run })).toBeUndefined();
  });

  test.for([['from concurrent import interpreters'], ['import _xxsubinterpreters']])(
    'is not allowed when the script may start a subinterpreter: %s',
    async ([text = '']) => {
      const files = [...question.files, await file('more.py', text)];
      expect(await answer({ files })).toBeUndefined();
    },
  );

  test('is not allowed with a `._pth` file that replaces the paths of a cold start', async () => {
    await writeFile(join(question.environmentFolder, 'bin', 'python._pth'), '/elsewhere\n');
    expect(await answer()).toBeUndefined();
  });

  test('is not allowed in an environment that refers to another interpreter', async () => {
    const { environmentFolder } = question;
    await writeFile(join(environmentFolder, 'pyvenv.cfg'), 'home = /elsewhere\n');
    expect(await answer()).toBeUndefined();
    await rm(join(environmentFolder, 'bin', 'python'));
    await symlink('/bin/true', join(environmentFolder, 'bin', 'python'));
    expect(await answer()).toBeUndefined();
    expect(await answer({ environmentFolder: join(folder, 'nowhere') })).toBeUndefined();
  });
});
