import { runId } from '#domain/testing/ids.ts';
import { runQueued } from '#domain/testing/samples.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { KnownStreams } from '#infra/postgres/commands/known-streams.ts';
import { openTestPlatform } from '#infra/testing/platform.ts';
import { expect, test } from 'vitest';
import { platformSettings, readConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { openPlatform } from './platform.ts';

test('the stream cache is cleared when a new database connection is opened', async () => {
  const test = await openTestPlatform();
  const known = new KnownStreams();
  const config = readConfig(platformSettings, { ORCH_DATABASE_URL: test.serviceUrl });
  const logger = createLogger('test', 'silent');
  const platform = await openPlatform({ ...config, name: 'test', connections: 2, logger, known });
  const { pool } = platform.database;
  const streamId = `run-${runId()}` as const;
  const { type, data } = runQueued();
  const place = { position: { transactionId: 1n, globalPosition: 1 }, recordedAt: new Date() };
  const first = await pool.connect();
  known.keep(streamId, { events: [{ ...newEvent(type, data), ...place, streamId, version: 1 }] });
  expect(known.all([streamId])).toBeDefined();
  const second = await pool.connect();
  expect(known.all([streamId])).toBeUndefined();
  for (const client of [first, second]) client.release();
  await platform.close();
  await test.close();
});
