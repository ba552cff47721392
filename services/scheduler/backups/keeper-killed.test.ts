/** Kills the process before each step of creating a backup. Afterwards, there is either no backup or a complete one,
 *  and the next scheduler finishes the work. docs/backup.md describes the steps. */
import { fileURLToPath } from 'node:url';
import { backupId } from '#domain/testing/ids.ts';
import { readSummary, storedBackup } from '#infra/backup/files.ts';
import { verifyBackup } from '#infra/backup/verify.ts';
import { masterKey, openSample, type Sample } from '#infra/backup/testing/sample.ts';
import { killedBefore, stepsOf } from '#infra/testing/killed.ts';
import { findBackup } from '#projections/backups/queries.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const program = fileURLToPath(new URL('testing/keeper-child.ts', import.meta.url));
const steps = [
  'beginning',
  'writing the next part',
  'replacing backup.tar',
  'replacing parts.txt',
  'replacing keys-1.json',
  'replacing backup.json',
  'recording FinishBackup',
  'the next round',
] as const;

let sample: Sample;
let args: readonly string[];
beforeEach(async () => {
  sample = await openSample();
  args = [sample.platform.serviceUrl, sample.folder];
  await sample.platform.accepted({
    type: 'StartBackup',
    backupId: backupId(),
    kind: 'manual',
  });
});
afterEach(() => sample.close());

const found = () => findBackup(sample.platform.reads, backupId());

async function isSound(): Promise<boolean> {
  const source = await storedBackup(sample.objects, backupId());
  if (source === undefined) return false;
  const options = { key: undefined, masterKeys: [masterKey] };
  const { manifest } = await verifyBackup(source, options);
  return manifest.events === source.summary.events;
}

describe('a requested backup', () => {
  test('is created in the expected steps if there is no crash', async () => {
    const parts = 'writing the next part';
    const noted = (await stepsOf(program, args)).filter(
      (step) => step === parts || !step.startsWith(parts),
    );
    expect(noted).toEqual(steps);
    expect(await isSound()).toBe(true);
  });

  test.each(steps)(
    'is absent or complete after a crash before %s, and is completed in the next round',
    async (step) => {
      await killedBefore(step, program, args);
      const isWhole = step === 'recording FinishBackup' || step === 'the next round';
      expect((await readSummary(sample.objects, backupId())) !== undefined).toBe(isWhole);
      expect(await isSound()).toBe(isWhole);
      expect((await found())?.status).toBe(step === 'the next round' ? 'complete' : 'running');
      await stepsOf(program, args);
      expect(await found()).toMatchObject({ status: 'complete', problem: null, share: null });
      expect(await isSound()).toBe(true);
    },
  );
});
