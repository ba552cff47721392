import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mergedPrograms, preparePrograms } from './compiled.ts';

let folder: string;
let dataDir: string;
let said: string[];
const say = (line: string) => said.push(line);

const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const urlOf = (name: string): string => pathToFileURL(join(folder, name)).href;

const shared = `interface Unused { readonly name: string }

export function fail(at: string): never {
  throw new RangeError('é: ' + at);
}
`;
const program = (name: string): string => `import { fail } from './shared.ts';
if (process.env['ORCH_WARM_UP'] === 'true') process.exit(0);
console.log(import.meta.url);
try {
  fail('${name}');
} catch (error) {
  console.log((error as Error).stack);
}
`;

beforeEach(() => {
  // The characters in this name are valid in a path, but special in replacement patterns and NAME=ENTRY arguments.
  folder = mkdtempSync(join(tmpdir(), 'merged $& a=b-'));
  said = [];
  dataDir = join(folder, 'data');
  write('package.json', '{"type":"module"}');
  write('shared.ts', shared);
});
afterEach(() => rmSync(folder, { recursive: true }));

const prepareTwo = async () => {
  const [first, second] = ['first', 'second'].map((name) => ({
    name,
    entry: write(`${name}.ts`, program(name)),
  })) as [{ name: string; entry: string }, { name: string; entry: string }];
  return {
    first,
    second,
    files: await preparePrograms(dataDir, [first, second], [first, second], say),
  };
};

describe('merged programs', () => {
  it('keep the URLs of their modules, and show original lines in stack traces', async () => {
    const { second, files } = await prepareTwo();

    const file = files.get(second.entry) ?? '';
    const [url, ...stack] = execFileSync(process.execPath, [file], { encoding: 'utf8' }).split(
      '\n',
    );

    expect(file).toBe(join(dataDir, 'cache/programs/second.mjs'));
    expect(url).toBe(urlOf('second.ts'));
    expect(stack.slice(0, 3)).toEqual([
      'RangeError: é: second',
      `    at fail (${urlOf('shared.ts')}:4)`,
      `    at ${urlOf('second.ts')}:5`,
    ]);
  });

  it('are reused while no source changes, even in a copy of the data folder', async () => {
    const { first } = await prepareTwo();
    const copy = join(folder, 'copy');
    cpSync(dataDir, copy, { recursive: true });

    const file = mergedPrograms(copy).get(first.entry) ?? '';

    expect(file).toBe(join(copy, 'cache/programs/first.mjs'));
    expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toContain('shared.ts:4');
  });

  it('are merged again after a source file has changed', async () => {
    const { first, second } = await prepareTwo();
    write('shared.ts', shared.replace('é', 'changed'));

    expect(mergedPrograms(dataDir).size).toBe(0);

    const files = await preparePrograms(dataDir, [first, second], [first, second], say);
    const { stdout } = spawnSync(process.execPath, [files.get(first.entry) ?? ''], {
      encoding: 'utf8',
    });
    expect(stdout).toContain('changed: first');
  });

  it.each(['merged.json', 'second.mjs'])('are not used if %s is damaged', async (name) => {
    await prepareTwo();
    truncateSync(join(dataDir, 'cache/programs', name), 20);

    expect(mergedPrograms(dataDir).size).toBe(0);
  });

  it('are not used after a source file was removed', async () => {
    await prepareTwo();
    rmSync(join(folder, 'shared.ts'));

    expect(mergedPrograms(dataDir).size).toBe(0);
  });

  it('are not created if a source file cannot be parsed', async () => {
    const entry = write('broken.ts', 'const = 1;');

    const broken = [{ name: 'broken', entry }];
    const files = await preparePrograms(dataDir, broken, broken, say);

    expect(files.size).toBe(0);
    expect(said).toEqual([expect.stringContaining('could not be merged')]);
  });

  it('include programs that are not services, without starting them for compilation', async () => {
    const touched = join(folder, 'touched');
    const entry = write(
      'running.ts',
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(touched)}, '');`,
    );

    const files = await preparePrograms(dataDir, [], [{ name: 'running', entry }], say);

    expect(readFileSync(files.get(entry) ?? '', 'utf8')).toContain('touched');
    expect(() => readFileSync(touched)).toThrow('ENOENT');
  });
});
