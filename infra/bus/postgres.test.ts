import { openDatabase } from '#infra/postgres/database.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll } from 'vitest';
import { busConformance } from '../conformance/bus.ts';
import { PostgresBus } from './postgres.ts';

let cleanUp: () => Promise<void>;
afterAll(() => cleanUp());

busConformance('on Postgres', async () => {
  const made = await createTestDatabase();
  const database = openDatabase(made.serviceUrl, {
    connections: 4,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  cleanUp = async () => {
    await database.close();
    await made.drop();
  };
  const open = () =>
    PostgresBus.open({
      url: made.serviceUrl,
      pool: database.pool,
      onError: (error) => {
        throw error;
      },
    });
  return [await open(), await open()];
});
