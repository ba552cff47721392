import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Interpreters } from './interpreters.ts';

const usual = { executable: '/opt/python3.11', version: '3.11.7', prefixes: ['/opt'] };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orch-interpreters-'));
  await program('python3.12', '3.12.4');
  await program('python3', '3.12.4');
  await writeFile(join(folder, 'python3.13'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A program that says of itself that it is that Python. */
async function program(name: string, version: string): Promise<void> {
  const answer = JSON.stringify({
    executable: `/usr/bin/python-${version}`,
    version: version.split('.').map(Number),
    prefixes: ['/usr'],
  });
  await writeFile(join(folder, name), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
}

describe('given a runtime with Python 3.11, and 3.12 on its path', () => {
  const interpreters = () => new Interpreters(usual, folder);

  test.each([null, '3', '3.11', '3.11.7'])(
    'when %s is wanted, then it is the usual',
    async (one) => {
      expect(await interpreters().of(one)).toBe(usual);
    },
  );

  test('when another is wanted that is there, then it is found', async () => {
    expect(await interpreters().of('3.12')).toMatchObject({ version: '3.12.4' });
  });

  test.each(['3.1', '3.13', '3.9'])(
    'when %s is wanted, then it says what there is',
    async (one) => {
      expect(await interpreters().of(one)).toBe(
        `The script wants Python ${one}; this runtime has 3.11.7, 3.12.4.`,
      );
    },
  );
});
