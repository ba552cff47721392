/** A changed backup is refused with an error that names the damaged part. */
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  createWriteStream,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { backupId } from '#domain/testing/ids.ts';
import { openFolderStore } from '#infra/objects/folder.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { downloadedBackup } from './downloaded.ts';
import { downloadOf, storedBackup } from './files.ts';
import { membersOf, placesIn, regionsOf, type Region } from './testing/damage.ts';
import {
  backUp,
  blob,
  masterKey,
  openSample,
  sampleBackup,
  type Sample,
} from './testing/sample.ts';
import { copyOfBackup, openTarget, type Target } from './testing/target.ts';
import { verifyBackup } from './verify.ts';

const other = backupId(2);
const key = randomBytes(32);
const files = ['backup.json', 'keys-1.json', 'parts.txt', 'backup.tar'];

let sample: Sample;
let target: Target;
beforeAll(async () => {
  sample = await openSample();
  await backUp(sample);
  await backUp(sample, undefined, other);
  target = await openTarget(sample);
});
afterAll(async () => {
  await target.close();
  await sample.close();
});

/** Copies both backups, so that a test can change them. */
function copied() {
  const { from } = copyOfBackup(sample, target.folder);
  const folderOf = (id: string) => join(from, 'backups', id);
  return { from, folder: folderOf(sampleBackup), folderOf };
}

async function verify(from: string, options = {}) {
  const source = await storedBackup(await openFolderStore({ folder: from }), sampleBackup);
  if (source === undefined) throw new Error('there is no backup');
  return await verifyBackup(source, { key: undefined, masterKeys: [masterKey], ...options });
}

/** Expects that verifying and restoring the backup fail, and that nothing changes. */
async function refused(from: string, problem: RegExp | string) {
  await expect(verify(from)).rejects.toThrow(problem);
  const attempt = target.restore({ replace: true, now: () => new Date() }, from);
  await expect(attempt).rejects.toThrow(problem);
  expect(await target.rows('SELECT event_id FROM events')).toEqual([]);
  const made = readdirSync(target.folder).filter((name) => !/^(copy-|\.incoming$)/.test(name));
  expect(made).toEqual([]);
}

/** Returns the beginning of an error message about a part. */
const namesPart = (part: string) => `${part} is damaged: `;

/** Damages each position in turn, and undoes the damage before the next one. */
async function eachDamaged(
  places: readonly (Region & { readonly at: number; readonly bit: number })[],
  damage: (bytes: Buffer, place: { readonly at: number; readonly bit: number }) => Buffer,
  check: (part: string) => Promise<void>,
) {
  for (const place of places) {
    const whole = readFileSync(place.file);
    writeFileSync(place.file, damage(Buffer.from(whole), place));
    await check(place.part);
    writeFileSync(place.file, whole);
  }
}

const flip = (bytes: Buffer, { at, bit }: { readonly at: number; readonly bit: number }) => {
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
  return bytes;
};
const cut = (bytes: Buffer, { at }: { readonly at: number }) => bytes.subarray(0, at);

describe('a stored backup', () => {
  test('is refused when one bit is flipped (200 positions in all parts)', async () => {
    const { from, folder } = copied();
    const regions = await regionsOf(folder, files);
    expect(regions.map(({ part }) => part)).toEqual(
      expect.arrayContaining(['events/00000001.ndjson.gz', `objects/${blob}`, 'manifest.json']),
    );
    await eachDamaged(placesIn(regions, 200, 1), flip, (part) => refused(from, namesPart(part)));
    expect(await verify(from)).toMatchObject({ foreignKeys: 0, unsealed: null });
  }, 120_000);

  test('is refused when truncated (50 positions in all parts)', async () => {
    const { from, folder } = copied();
    const regions = await regionsOf(folder, files);
    await eachDamaged(placesIn(regions, 50, 2), cut, (part) => refused(from, namesPart(part)));
  }, 120_000);

  test.each(files)('is refused when %s is missing or comes from another backup', async (name) => {
    const { from, folder, folderOf } = copied();
    cpSync(join(folderOf(other), name), join(folder, name));
    const differs = name !== 'keys-1.json'; // both backups have the same keys
    if (differs) await refused(from, / is damaged: /);
    rmSync(join(folder, name));
    if (name === 'backup.json') await expect(verify(from)).rejects.toThrow('there is no backup');
    else await refused(from, `${name} is damaged: it is missing.`);
  });

  test('is refused when another backup of the installation has replaced it', async () => {
    const { from, folder, folderOf } = copied();
    rmSync(folder, { recursive: true });
    renameSync(folderOf(other), folder);
    await refused(from, `backup.json is damaged: it belongs to the backup ${other}.`);
  });

  test.each([
    ['two members are swapped', (all: Buffer[]) => [all[0], all[2], all[1], ...all.slice(3)]],
    ['a member is missing', (all: Buffer[]) => [...all.slice(0, 1), ...all.slice(2)]],
    ['a member is duplicated', (all: Buffer[]) => [...all.slice(0, 2), ...all.slice(1)]],
  ])('is refused with an error that names the first missing file when %s', async (...given) => {
    const { from, folder } = copied();
    const file = join(folder, 'backup.tar');
    const bytes = readFileSync(file);
    const members = await membersOf(file);
    const parts = members.map(({ start, end }) => bytes.subarray(start, end));
    const [, change] = given;
    writeFileSync(file, Buffer.concat(change(parts).filter((part) => part !== undefined)));
    await refused(from, /^(events|tables)\/\S+ is damaged: it is missing; found \S+ instead/);
  });

  test('is refused when it contains an extra file', async () => {
    const { from, folder } = copied();
    writeFileSync(join(folder, 'keys-2.json'), '[]\n');
    await refused(from, 'keys-2.json is damaged: it does not belong to the backup.');
  });

  test('is refused when a part and the manifest were changed without the master key', async () => {
    const { from, folder } = copied();
    const bytes = Buffer.from('[]\n');
    const manifest = JSON.parse(readFileSync(join(folder, 'backup.json'), 'utf8'));
    manifest.parts[0].sizeBytes = bytes.length;
    manifest.parts[0].sha256 = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(folder, 'keys-1.json'), bytes);
    writeFileSync(join(folder, 'backup.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await refused(from, 'backup.json is damaged: its seal does not match');
    delete manifest.seal;
    writeFileSync(join(folder, 'backup.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await refused(from, 'backup.json is damaged: it does not describe a backup');
  });

  test('requires the master key that sealed it, unless an option skips this check', async () => {
    const { from } = copied();
    await expect(verify(from, { masterKeys: [] })).rejects.toThrow('no master key is set');
    await expect(verify(from, { masterKeys: [randomBytes(32)] })).rejects.toThrow('--unsealed');
    expect(await verify(from, { masterKeys: [], unsealed: true })).toMatchObject({
      foreignKeys: 2,
      unsealed: expect.stringContaining('no master key is set'),
    });
  });
});

test('an encrypted backup is refused when a bit is flipped or data is truncated', async () => {
  await backUp(sample, key);
  const { from, folder } = copied();
  const regions = await regionsOf(folder, files, true);
  const check = async (part: string) => {
    // Damage in encrypted content is reported for the member that was being read.
    const problem = part === 'backup.tar' ? /^(\S+ is damaged: |backup\.tar is )/ : namesPart(part);
    await expect(verify(from, { key })).rejects.toThrow(problem);
  };
  await eachDamaged(placesIn(regions, 60, 3), flip, check);
  await eachDamaged(placesIn(regions, 20, 4), cut, check);
  await backUp(sample);
}, 60_000);

describe('a downloaded backup', () => {
  async function download() {
    const source = await storedBackup(sample.objects, sampleBackup);
    if (source === undefined) throw new Error('there is no backup');
    const file = join(target.folder, 'copy-download.tar');
    await pipeline((await downloadOf(source)).chunks, createWriteStream(file));
    return file;
  }
  const verifyFile = async (file: string) =>
    await verifyBackup(await downloadedBackup(file), { key: undefined, masterKeys: [masterKey] });

  test('is refused when a bit is flipped or data is truncated, even between its parts', async () => {
    const file = await download();
    const regions = await membersOf(file);
    const check = async (part: string) => {
      const problem = part === 'backup.tar' ? / is damaged: / : namesPart(part);
      await expect(verifyFile(file)).rejects.toThrow(problem);
    };
    await eachDamaged(placesIn(regions, 100, 5), flip, check);
    await eachDamaged(placesIn(regions, 30, 6), cut, check);
    expect(await verifyFile(file)).toMatchObject({ unsealed: null });
  }, 60_000);
});
