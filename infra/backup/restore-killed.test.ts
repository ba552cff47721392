/** A restore that is killed at any step leaves either the previous state or the restored state. */
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { groupId } from '#domain/testing/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backUp, openSample, type Sample } from './testing/sample.ts';
import { openTarget, type Target } from './testing/target.ts';

const program = fileURLToPath(new URL('testing/restore-child.ts', import.meta.url));

let sample: Sample;
let target: Target;
beforeAll(async () => {
  sample = await openSample();
  await backUp(sample);
  target = await openTarget(sample);
  cpSync(join(sample.folder, 'backups'), join(target.folder, 'backups'), { recursive: true });
  await target.pool.query(
    `INSERT INTO credentials (credential_id, password_hash) VALUES ($1, 'old')`,
    [groupId()],
  );
});
afterAll(async () => {
  await target.close();
  await sample.close();
});

/** Counts the previous credentials and the events. */
async function found() {
  const old = await target.rows(`SELECT FROM credentials WHERE password_hash = 'old'`);
  const events = await target.rows('SELECT event_id FROM events');
  return [old.length, events.length];
}

function restoreKilledAt(step: string): void {
  const args = [program, target.adminUrl, target.folder, step];
  expect(spawnSync(process.execPath, args).signal).toBe('SIGKILL');
}

describe('a killed restore', () => {
  test.each(['verifying…', 'clearing', 'loading…', 'read models…', 'committing'])(
    'changes nothing when killed at the step "%s"',
    async (step) => {
      restoreKilledAt(step);
      expect(await found()).toEqual([1, 0]);
    },
  );

  test.each(['objects', 'done'])(
    'is complete when killed at the step "%s", and can be repeated',
    async (step) => {
      restoreKilledAt(step);
      expect(await found()).toEqual([0, 10]);
      expect(await target.restore({ replace: true })).toMatchObject({ events: 9, objects: 2 });
      expect(await found()).toEqual([0, 10]);
    },
  );
});
