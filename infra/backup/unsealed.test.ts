/** Backups from versions that did not seal them are restored only on explicit request. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backUp, openSample, type Sample } from './testing/sample.ts';
import { copyOfBackup, openTarget, type Target } from './testing/target.ts';
import { unseal } from './testing/unsealed.ts';

let sample: Sample;
let target: Target;
beforeAll(async () => {
  sample = await openSample();
  await backUp(sample);
  target = await openTarget(sample);
});
afterAll(async () => {
  await target.close();
  await sample.close();
});

async function oldBackup() {
  const { from, archive, summary } = copyOfBackup(sample, target.folder);
  await unseal(dirname(archive));
  const change = (file: string, what: string, by: string) => {
    const text = readFileSync(file, 'latin1');
    if (!text.includes(what)) throw new Error(`there is no ${what}`);
    writeFileSync(file, text.replace(what, by), 'latin1');
  };
  return { from, archive, summary, keys: summary.replace('backup.json', 'keys.json'), change };
}

describe('a backup without a seal', () => {
  test('is refused unless the administrator accepts unsealed backups', async () => {
    const { from } = await oldBackup();
    await expect(target.restore({}, from)).rejects.toThrow(
      /^The backup was made by version 0\.1\.13, which did not seal backups\. .* use --unsealed/,
    );
    const report = await target.restore({ unsealed: true, replace: true }, from);
    expect(report).toMatchObject({ events: 9, objects: 2 });
    expect(await target.rows('SELECT key_id FROM data_keys')).toHaveLength(2);
  });

  test.each([
    ['summary', '"createdAt": "2026', '"createdAt": "2025', /backup\.json is damaged: its field c/],
    ['summary', '"events": 9', '"events": 8', /backup\.json is damaged: its field events says 8/],
    ['keys', '"wrapped_key": "', '"wrapped_key": "AAAA', /keys\.json is damaged: the key/],
    ['archive', 'checksums/', 'Checksums/', /is damaged: its header is corrupt/],
  ] as const)(
    'is refused, even with --unsealed, when its %s was changed from %s to %s',
    async (...given) => {
      const [file, what, by, problem] = given;
      const old = await oldBackup();
      old.change(old[file], what, by);
      const options = { unsealed: true, replace: true };
      await expect(target.restore(options, old.from)).rejects.toThrow(problem);
    },
  );
});
