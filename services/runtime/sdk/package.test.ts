import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeFolder } from '../environments/folders.ts';
import { PackagePaths, sdkFolder } from './package.ts';

test('an environment in which a package put files beside the library is used all the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orch-sdk-'));
  try {
    const packages = join(folder, 'lib', 'python3.12', 'site-packages');
    await mkdir(packages, { recursive: true });
    await writeFile(join(folder, 'lib', 'python312.zip'), 'no folder');
    await new PackagePaths().ensure(folder);
    const file = join(packages, 'orchestrator-platform.pth');
    expect(await readFile(file, 'utf8')).toBe(`${sdkFolder}\n`);
  } finally {
    await removeFolder(folder);
  }
});
