/** Tests the real programs with an object store that is temporarily unavailable. */
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import { s3Service, startS3Server, type TestS3Server } from '#infra/testing/s3-server.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { bucketVariables, Fleet } from './testing/fleet.ts';
import { until, type RunAnswer } from './testing/product.ts';

describeWith(s3Service, 'an unavailable object store', () => {
  let database: TestDatabase;
  let s3: TestS3Server;
  let fleet: Fleet;
  beforeAll(async () => {
    [database, s3] = await Promise.all([createTestDatabase(), startS3Server()]);
    fleet = await Fleet.start({
      databaseUrl: database.serviceUrl,
      replicas: { backend: 1, scheduler: 1, runtime: 1 },
      variables: { ...bucketVariables(s3.location), ORCH_LOG_LEVEL: 'fatal' },
    });
  }, 180_000);
  afterAll(async () => {
    await fleet.stop();
    await s3.stop();
    await database.drop();
  });

  async function makeScript(name: string): Promise<string> {
    const { id } = await fleet.call<{ id: string }>('POST', '/scripts', { name });
    const file = { content: `print("${name}")`, encoding: 'utf-8' };
    await fleet.call('PUT', `/scripts/${id}/files/main.py`, file);
    return id;
  }

  const stateOf = (runId: string) => fleet.call<RunAnswer>('GET', `/runs/${runId}`);

  async function run(scriptId: string): Promise<string> {
    const path = `/runs/scripts/${scriptId}/run`;
    return (await fleet.call<{ run_id: string }>('POST', path, {})).run_id;
  }

  async function statusAtEnd(runId: string): Promise<string> {
    return await until('the run has ended', async () => {
      const { status, failure_reason } = await stateOf(runId);
      if (status === 'queued' || status === 'running') return undefined;
      return failure_reason ?? status;
    });
  }

  test('delays only runs whose files are not cached on the runtime', async () => {
    const [known, unknown] = [await makeScript('known'), await makeScript('unknown')];
    expect(await statusAtEnd(await run(known))).toBe('success');
    await s3.proxy.set({ kind: 'cut', direction: 'request', afterBytes: 0 });
    const waiting = await run(unknown);
    await s3.proxy.struck();
    expect(await statusAtEnd(await run(known))).toBe('success');
    expect((await stateOf(waiting)).status).toBe('queued');
    await s3.proxy.set({ kind: 'pass' });
    expect(await statusAtEnd(waiting)).toBe('success');
  }, 120_000);
});
