import { randomUUID } from 'node:crypto';
import type { SamplePoint } from '#domain/ports/run-samples.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../database.ts';
import { PostgresRunSamples } from './run-samples.ts';

let database: Database;
let drop: () => Promise<void>;
let samples: PostgresRunSamples;

beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.serviceUrl, {
    connections: 2,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  samples = new PostgresRunSamples(database.pool);
});
afterAll(async () => {
  await database.close();
  await drop();
});

const point = (second: number): SamplePoint => ({
  timeMs: 1_795_228_260_000 + second * 1000,
  cpuSeconds: second / 3,
  memoryBytes: 3_000_000_000 + second,
  threads: 2,
  processes: 1,
});
const points = (...seconds: readonly number[]) => seconds.map(point);

describe('the samples of a run', () => {
  test('are returned oldest first', async () => {
    const [runId, other] = [randomUUID(), randomUUID()];
    await samples.save([
      { runId, place: 0, points: points(1, 2) },
      { runId, place: 1, points: points(3) },
      { runId: other, place: 0, points: points(9) },
    ]);
    expect(await samples.read(runId)).toEqual(points(1, 2, 3));
    expect(await samples.read(randomUUID())).toEqual([]);
  });

  test('are replaced when a chunk is stored again', async () => {
    const runId = randomUUID();
    await samples.save([{ runId, place: 0, points: points(1, 2) }]);
    await samples.save([{ runId, place: 1, points: points(3) }]);
    await samples.save([{ runId, place: 1, points: points(3, 4) }]);
    await samples.save([{ runId, place: 1, points: points(3, 4) }]);
    expect(await samples.read(runId)).toEqual(points(1, 2, 3, 4));
  });

  test('replace all earlier chunks, even if fewer chunks are stored', async () => {
    const [runId, other] = [randomUUID(), randomUUID()];
    const places = [0, 1, 2, 3];
    await samples.save([
      ...places.map((place) => ({ runId, place, points: points(place) })),
      ...places.map((place) => ({ runId: other, place, points: points(place) })),
    ]);
    await samples.save([
      { runId, place: 0, points: points(1) },
      { runId, place: 1, points: points(3) },
    ]);
    expect(await samples.read(runId)).toEqual(points(1, 3));
    expect(await samples.read(other)).toEqual(points(0, 1, 2, 3));
  });
});
