/** Tests run errors, which the command that ends the run stores. */
import { platformError } from '#domain/run/error/error.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { runId } from '#domain/testing/ids.ts';
import { createGroup, createScript, finishRun, runScript } from '#domain/testing/samples.ts';
import { openTestPlatform, userContext, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readReports, saveProgress } from '../logs/run-reports.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
  await platform.accepted(createGroup());
  const settings = { ...defaultSettings, maxConcurrentRuns: 100 };
  await platform.accepted(createScript({ settings }));
});
afterAll(() => platform.close());

let number = 0;
beforeEach(async () => {
  number += 1;
  await platform.accepted(runScript({ runId: runId(number) }));
});

const error = platformError('exit_code', 'The script exited with exit code 1.');
const other = platformError('exit_code', 'The script exited with exit code 2.');
const fact = { type: error.type, source: error.source, fingerprint: 'f', sha256: 's' };
const content = (stored: unknown) => Buffer.from(JSON.stringify(stored));
const end = (fence = 2) =>
  finishRun({ runId: runId(number), fence, outcome: 'exit_code', exitCode: 1, error: fact });
const abandon = () => ({ ...end(), type: 'AbandonRun', failure: 'environment_error' }) as const;

async function start(): Promise<void> {
  await platform.accepted({ type: 'StartRun', runId: runId(number), runtimeId: 'a', layers: [] });
}

async function stored() {
  return (await readReports(platform.pool, [runId(number)])).get(runId(number));
}

async function lastEvent(): Promise<string | undefined> {
  const { rows } = await platform.pool.query<{ type: string }>(
    'SELECT type FROM events WHERE stream_id = $1 ORDER BY version DESC LIMIT 1',
    [`run-${runId(number)}`],
  );
  return rows[0]?.type;
}

test('the error of a started run is stored when the run ends, and the progress is kept', async () => {
  await start();
  await saveProgress(platform.pool, runId(number), { fraction: 0.5, text: 'half' });
  await platform.commands.execute(end(), userContext(), content(error));
  expect(await stored()).toMatchObject({ error, progress: { fraction: 0.5 } });
  expect((await platform.pool.query('SELECT FROM payloads')).rowCount).toBe(0);
});

test('the error of a run that never started is stored when the run ends', async () => {
  await platform.commands.execute(abandon(), userContext(), content(error));
  expect(await stored()).toMatchObject({ error });
});

test('the errors of runs that end at the same time are stored separately', async () => {
  const first = number;
  await start();
  number += 1;
  await platform.accepted(runScript({ runId: runId(number) }));
  await start();
  const { commands } = platform;
  await Promise.all([
    // The first command is executed alone, and the other two are executed in one batch.
    commands.execute(createGroup(), userContext()),
    commands.execute({ ...end(), runId: runId(first) }, userContext(), content(error)),
    commands.execute(end(), userContext(), content(other)),
  ]);
  const reports = await readReports(platform.pool, [runId(first), runId(number)]);
  expect([...reports].map(([id, report]) => [id, report.error])).toEqual(
    expect.arrayContaining([
      [runId(first), error],
      [runId(number), other],
    ]),
  );
});

test('a repeated command to end a run does not store a second error', async () => {
  await start();
  await platform.commands.execute(end(), userContext(), content(error));
  await platform.commands.execute(end(), userContext(), content(other));
  expect(await stored()).toMatchObject({ error });
});

test('a report from a runtime that has lost the run does not store an error', async () => {
  await start();
  const outcome = await platform.commands.execute(end(1), userContext(), content(error));
  expect([outcome.kind, await stored()]).toEqual(['refused', undefined]);
});

test('a run whose error cannot be stored does not end', async () => {
  await start();
  const failing = platform.commands.execute(end(), userContext(), Buffer.from('{'));
  await expect(failing).rejects.toThrow('invalid input syntax for type json');
  expect([await lastEvent(), await stored()]).toEqual(['RunStarted', undefined]);
});
