import { withClient } from '#infra/testing/client.ts';
import { afterEach, expect, test } from 'vitest';
import { ReplicatedDatabase } from './replicated-database.ts';

let database: ReplicatedDatabase | undefined;
afterEach(async () => {
  await database?.stop();
});

test(
  'a replicated database keeps every acknowledged commit through two failovers',
  { timeout: 120_000 },
  async () => {
    database = await ReplicatedDatabase.start();
    const { serviceUrl } = database;
    const all = () =>
      withClient(serviceUrl, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          `SELECT name FROM checkpoints WHERE name LIKE 'kept%' ORDER BY name`,
        );
        return rows.map(({ name }) => name);
      });
    const keep = (name: string) =>
      withClient(serviceUrl, (client) =>
        client.query(`INSERT INTO checkpoints VALUES ($1, 1, '1', 0)`, [name]),
      );
    const names: string[] = [];
    for (const name of ['kept 1', 'kept 2']) {
      await keep(name);
      names.push(name);
      await database.failOver();
      expect(await all()).toEqual(names);
      await database.rebuildStandby();
    }
  },
);
