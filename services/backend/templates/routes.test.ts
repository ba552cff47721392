import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeExamples } from '../system/examples.ts';
import { executeOnce } from '../system/seed.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('a new installation', () => {
  test('creates the example scripts once, even after an interruption', async () => {
    const { services, admin } = platform;
    for (const _ of ['once', 'again']) {
      await makeExamples(services, (command, cause) => executeOnce(command, cause, services));
    }
    const scripts = (await admin.get('/api/v1/scripts')).json.items as {
      readonly id: string;
      readonly name: string;
    }[];
    expect(scripts.map(({ name }) => name)).toEqual(['ETL job', 'Chat bot', 'HTTP monitor']);
    const runs = (await admin.get('/api/v1/runs')).json.items;
    expect(runs).toMatchObject([{ script_name: 'ETL job', requested_by: 'setup' }]);
    const hourAgo = new Date(Date.parse(runs[0].queued_at) - 3_600_000).toISOString();
    expect((await admin.get(`/api/v1/runs?from=${hourAgo}`)).json.items).toEqual(runs);
    const files = (await admin.get(`/api/v1/scripts/${scripts[0]?.id}/files`)).json.items;
    expect(files.map((one: { path: string }) => one.path)).toContain('orders.csv');
    for (const { id } of scripts) await admin.delete(`/api/v1/scripts/${id}`);
  });
});

describe('templates', () => {
  test('are all listed', async () => {
    const { items } = (await platform.admin.get('/api/v1/templates')).json;
    expect(items.map((one: { id: string }) => one.id)).toEqual([
      'http-monitor',
      'chat-bot',
      'etl-job',
      'resident-handler',
    ]);
  });

  test('set their start mode unless the request specifies another', async () => {
    const body = { name: 'Greetings', template: 'resident-handler' };
    const made = await platform.admin.post('/api/v1/scripts', body);
    expect(made.json).toMatchObject({ start_mode: 'resident' });
    const cold = await platform.admin.post('/api/v1/scripts', { ...body, start_mode: 'cold' });
    expect(cold.json).toMatchObject({ start_mode: 'cold' });
  });

  test('provide the files of new scripts', async () => {
    const body = { name: 'Orders', template: 'etl-job', entrypoint: 'job.py' };
    const { id, storage_used_bytes } = (await platform.admin.post('/api/v1/scripts', body)).json;
    const { items } = (await platform.admin.get(`/api/v1/scripts/${id}/files`)).json as {
      items: { path: string; size_bytes: number }[];
    };
    expect(items.map((one) => one.path)).toEqual(['README.md', 'job.py', 'orders.csv']);
    expect(storage_used_bytes).toBe(items.reduce((sum, one) => sum + one.size_bytes, 0));
    const csv = await platform.admin.get(`/api/v1/scripts/${id}/files/orders.csv`);
    expect(csv.text).toMatch(/^order,country/);
  });

  test('are refused if unknown', async () => {
    const body = { name: 'X', template: 'virus' };
    const answer = await platform.admin.post('/api/v1/scripts', body);
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, '/template']);
  });
});
