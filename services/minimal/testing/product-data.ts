/** Creates folders that take long to create once per test run, such as the data folder of a first start. Copying this
 *  folder takes a tenth of the time of a first start. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const variable = 'TEST_PRODUCT_DATA';
const deadlineMs = 120_000;

/** The global setup for vitest.
 *  @returns its teardown */
export async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-product-'));
  await chmod(folder, 0o711); // The database may have to run as another user, who must be able to enter the folder.
  process.env[variable] = folder;
  // Programs that tests start share this cache of compiled code.
  process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'compiled');
  // Retries the removal, because exiting programs may still write compiled code to the folder.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Copies the data folder into an empty folder. Does nothing outside a test run.
 *  @param startOnce performs the first start of a product on an empty folder, and stops the product */
export async function copyProductData(
  target: string,
  startOnce: (dataDir: string) => Promise<void>,
): Promise<void> {
  const data = await createdOnce('data', startOnce);
  if (data === undefined) return;
  // Keeps the owners of the files, because the database may run as another user.
  await promisify(execFile)('cp', ['-a', `${data}/.`, target]);
}

/** Returns a folder that all test files of a run share, or `undefined` outside a test run.
 *  @param create fills the folder, in the first process that asks for it */
export async function createdOnce(
  name: string,
  create: (folder: string) => Promise<void>,
): Promise<string | undefined> {
  const parent = process.env[variable];
  if (parent === undefined) return undefined;
  const folder = join(parent, name);
  const ready = `${folder}-ready`;
  if (await isFirst(`${folder}-begun`)) {
    await create(folder);
    await writeFile(ready, '');
  }
  for (const startedMs = performance.now(); !existsSync(ready); await pause(50)) {
    if (performance.now() - startedMs > deadlineMs)
      throw new Error(`the folder ${name} was not created within ${deadlineMs} ms`);
  }
  return folder;
}

async function isFirst(mark: string): Promise<boolean> {
  return await mkdir(mark).then(
    () => true,
    () => false,
  );
}
