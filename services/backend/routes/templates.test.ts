import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('given the templates', () => {
  test('when they are listed, then there are three', async () => {
    const { items } = (await platform.admin.get('/api/v1/templates')).json;
    expect(items.map((one: { id: string }) => one.id)).toEqual([
      'http-monitor',
      'chat-bot',
      'etl-job',
    ]);
  });

  test('when a script is made of one, then it has its files', async () => {
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

  test('when a template is unknown, then there is no script', async () => {
    const body = { name: 'X', template: 'virus' };
    const answer = await platform.admin.post('/api/v1/scripts', body);
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, '/template']);
  });
});
