/** Tests `backup verify` and `backup restore` on a database that the environment names. */
import { createWriteStream, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { downloadOf, storedBackup } from '#infra/backup/files.ts';
import {
  backUp,
  masterKey,
  openSample,
  sampleBackup,
  type Sample,
} from '#infra/backup/testing/sample.ts';
import { requestRestore, requestedRestore } from '#services/shared/restore-request.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

let sample: Sample;
let folder: string;
let file: string;
beforeAll(async () => {
  sample = await openSample();
  await backUp(sample);
  folder = mkdtempSync(join(tmpdir(), 'orch-cli-'));
  file = join(folder, 'backup.tar');
  await download();
});
afterAll(async () => {
  await sample.close();
  rmSync(folder, { recursive: true });
});

async function download(): Promise<void> {
  const source = await storedBackup(sample.objects, sampleBackup);
  if (source === undefined) throw new Error('there is no backup');
  await pipeline((await downloadOf(source)).chunks, createWriteStream(file));
}

/** Runs the command line.
 *  @returns the exit code and the output */
function run(...args: string[]): Promise<readonly [code: number, said: string]> {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    ORCH_DATA_DIR: folder,
    ORCH_OBJECTS_DIR: sample.folder,
    SECRET_MASTER_KEY: Buffer.from(masterKey).toString('base64'),
    ORCH_DATABASE_ADMIN_URL: sample.platform.adminUrl,
  };
  const { promise, resolve } = Promise.withResolvers<readonly [number, string]>();
  const child = execFile(process.execPath, [main, 'backup', ...args], { env }, (_, out, err) =>
    resolve([child.exitCode ?? -1, out + err]),
  );
  return promise;
}

const endMissing = /^\S+ is damaged: it is truncated\./;
const states = async () =>
  (await sample.platform.pool.query('SELECT restoring, problem FROM backups')).rows;

test('a backup is verified and restored by file or ID, if no data would be lost', async () => {
  expect(await run('verify', file)).toEqual([0, expect.stringContaining('is intact: 9 events')]);
  expect(await run('restore', sampleBackup)).toEqual([
    65,
    'This installation has 9 events, which would be lost. Use --replace to replace them with the backup.\n',
  ]);
  expect(await run('restore', file, '--replace')).toEqual([
    0,
    expect.stringMatching(
      /9 events, 2 objects\.\nActive now: 1 account, 0 API tokens, 0 sessions\./,
    ),
  ]);
  expect(await run('restore', join(folder, 'nothing.tar'))).toEqual([
    66,
    expect.stringContaining('does not exist'),
  ]);
  truncateSync(file, 100_000);
  expect(await run('verify', file)).toEqual([65, expect.stringMatching(endMissing)]);
});

test('a requested restore runs once, and a failed restore is reported', async () => {
  const ask = async () => {
    await sample.platform.accepted({ type: 'RequestRestore', backupId: sampleBackup });
    requestRestore(folder, { backupId: sampleBackup });
  };
  await ask();
  const [code, said] = await run('restore', '--asked');
  expect([code, said]).toEqual([
    0,
    expect.stringMatching(/^progress 0.00 verifying\n(.*\n)*Restored/),
  ]);
  expect(requestedRestore(folder)).toBeUndefined();
  expect(await states()).toEqual([{ restoring: false, problem: null }]);
  await ask();
  truncateSync(join(sample.folder, 'backups', sampleBackup, 'backup.tar'), 100_000);
  expect(await run('restore', '--asked')).toEqual([
    0,
    expect.stringMatching(
      /was not restored, and nothing was changed: \S+ is damaged: it is truncated\./,
    ),
  ]);
  expect(requestedRestore(folder)).toBeUndefined();
  expect(await states()).toEqual([
    { restoring: false, problem: expect.stringMatching(endMissing) },
  ]);
});
