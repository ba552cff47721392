/** Makes and restores a backup under load. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '#services/minimal/testing/product.ts';
import type { Edition } from './edition.ts';
import type { Operation } from './operations.ts';

interface Backup {
  readonly id: string;
  readonly status: string;
  readonly problem: string | null;
  readonly progress: number | null;
  readonly verifying: boolean;
  readonly restoring: boolean;
}

const backupOf = (edition: Edition, id: string) =>
  edition.requestReliably<Backup>('GET', `/backups/${id}`);

const askForBackup = async (edition: Edition) =>
  (await edition.requestReliably<Backup>('POST', '/backups', undefined, randomUUID())).id;

async function untilBackedUp(edition: Edition, id: string): Promise<Backup> {
  return await until('the backup is made', async () => {
    const found = await backupOf(edition, id);
    return found.status === 'running' ? undefined : found;
  });
}

/** Makes and verifies a backup. */
export const backup: Operation = {
  name: 'backup',
  begin: askForBackup,
  async stepOf(edition, id) {
    const found = await edition.ask<Backup>(`/backups/${id}`);
    // Ignores error responses, which contain no ID.
    if (found?.id === undefined) return undefined;
    return found.progress === null ? found.status : `${found.status}, in progress`;
  },
  async conclude(edition, id, journal) {
    const made = await untilBackedUp(edition, id);
    if (made.status === 'complete') await edition.requestReliably('POST', `/backups/${id}/verify`);
    const problem = await until('the backup is verified', async () => {
      const { verifying, problem: found } = await backupOf(edition, id);
      return verifying ? undefined : (found ?? made.status);
    });
    const expected = ['complete'];
    journal.note({ what: 'concluded', operation: 'backup', id, outcome: problem, expected });
  },
};

/** The time between a backup and its restore. */
const workMs = 3_000;

/** Restores a backup, which discards all newer data. */
export const restore: Operation = {
  name: 'restore',
  async begin(edition, journal) {
    const point = randomUUID();
    journal.note({ what: 'marked', point });
    const id = await askForBackup(edition);
    points.set(id, point);
    await untilBackedUp(edition, id);
    await wait(workMs);
    journal.note({ what: 'returning', point });
    await edition.requestReliably('POST', `/backups/${id}/restore`, undefined, randomUUID());
    return id;
  },
  async stepOf(edition, id) {
    const found = await edition.ask<Backup>(`/backups/${id}`);
    if (found?.id !== undefined) return found.restoring ? 'asked' : 'over';
    return /restored from a backup: ([a-z ]+)/.exec(found?.detail ?? '')?.[1];
  },
  async conclude(edition, id, journal) {
    const { problem } = await until('the restore is over', async () => {
      const found = await backupOf(edition, id);
      return found.restoring ? undefined : found;
    });
    const outcome = problem ?? 'restored';
    if (problem === null) journal.note({ what: 'returned', point: points.get(id) ?? '' });
    journal.note({ what: 'concluded', operation: 'restore', id, outcome, expected: ['restored'] });
  },
};

/** The names of saved states in the journal, by backup ID. */
const points = new Map<string, string>();
