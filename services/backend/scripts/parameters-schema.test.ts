import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, nowhere, run, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { Answer, TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = (id: string) => `/api/v1/scripts/${id}`;
const start = (id: string, body: object = {}) =>
  developer.post(`/api/v1/runs/scripts/${id}/run`, body);
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['limit'],
  properties: { limit: { type: 'integer', minimum: 1 }, label: { const: null } },
};
const fault = ({ status, json }: Answer) => [status, json.errors?.[0]];

describe('a script with a parameter schema', () => {
  test('shows the schema, and gets a new version for each change', async () => {
    const { id } = await script(developer, { parameters_schema: schema });
    expect((await developer.get(path(id))).json.parameters_schema).toEqual(schema);
    const other = { type: 'object', $defs: { a: { type: 'string' } } };
    const changed = await developer.patch(path(id), { parameters_schema: other });
    expect(changed.json).toMatchObject({ parameters_schema: other, version: 2 });
    expect(changed.json.parameters_schema).toEqual(other);
    const past = await developer.get(`${path(id)}?at=${changed.headers.get('orch-position')}`);
    expect(past.json.parameters_schema).toEqual(other);
    const without = await developer.patch(path(id), { parameters_schema: null });
    expect(without.json.parameters_schema).toBeNull();
    const copied = await developer.post(
      `${path((await script(developer, { parameters_schema: schema })).id)}/copy`,
    );
    expect(copied.json.parameters_schema).toEqual(schema);
    expect((await developer.get(path((await script(developer)).id))).json.parameters_schema).toBe(
      null,
    );
  });

  test('is refused if its schema is invalid, with a pointer to the error', async () => {
    const bad = { type: 'object', properties: { a: { type: 'objekt' } } };
    const pointer = '/parameters_schema/properties/a/type';
    const made = await developer.post('/api/v1/scripts', { name: 'Bad', parameters_schema: bad });
    expect(fault(made)).toEqual([422, expect.objectContaining({ pointer })]);
    const { id, version } = await script(developer);
    const changed = await developer.patch(path(id), { parameters_schema: bad });
    expect(fault(changed)).toEqual([422, expect.objectContaining({ pointer })]);
    expect((await developer.get(path(id))).json.version).toBe(version);
    const unknown = await developer.patch(path(nowhere), { parameters_schema: bad });
    expect(unknown.status).toBe(404);
    const word = await developer.patch(path(id), { parameters_schema: 'object' });
    expect(fault(word)[0]).toBe(422);
  });

  test('refuses a run whose parameters do not match', async () => {
    const { id } = await script(developer, { parameters_schema: schema, max_concurrent_runs: 9 });
    expect((await start(id, { params: { limit: 3, label: null } })).status).toBe(202);
    const refused = [422, { pointer: '/params/limit', detail: 'must be >= 1' }];
    expect(fault(await start(id, { params: { limit: 0 } }))).toEqual(refused);
    const missing = [422, { pointer: '/params/limit', detail: 'is required' }];
    expect(fault(await start(id))).toEqual(missing);
    expect((await developer.get(`${path(id)}/runs`)).json.items).toHaveLength(1);
  });

  test('validates the parameters of a rerun only for the latest version', async () => {
    const { id } = await script(developer);
    const runId = await run(developer, id, { params: { limit: 0 } });
    await finishRun(platform, runId, await startRun(platform, runId));
    await developer.patch(path(id), { parameters_schema: schema });
    const again = (version: string) =>
      developer.post(`/api/v1/runs/${runId}/rerun`, { version, when_busy: 'queue' });
    expect((await again('same')).status).toBe(202);
    const refused = [422, { pointer: '/params/limit', detail: 'must be >= 1' }];
    expect(fault(await again('latest'))).toEqual(refused);
  });
});
