import { whenRunFinishedStartChained } from '#domain/reactions/when-run-finished-start-chained.ts';
import { storeChainedInput } from '#infra/postgres/event-store/chained-input.ts';
import { Reactor } from '#infra/postgres/readers/reactor.ts';
import { systemIds } from '#infra/system/ids.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { reactionReads } from '#projections/reaction-reads.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  chain,
  finishRun,
  groups,
  nowhere,
  run,
  script,
  someone,
  startRun,
} from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterAll(() => platform.close());

const path = '/api/v1/chains';
const signal = new AbortController().signal;

async function scripts(count: number): Promise<readonly string[]> {
  const made = await Promise.all(Array.from({ length: count }, () => script(developer)));
  return made.map(({ id }) => id);
}

/** Ends a run of the script, and waits for the resulting reactions. */
async function end(scriptId: string): Promise<string> {
  const runId = await run(developer, scriptId);
  await finishRun(platform, runId, await startRun(platform, runId));
  const { pool, services } = platform;
  await eventsVisible(pool);
  await new Reactor({
    pool,
    commands: services.commands,
    ids: systemIds,
    reads: reactionReads(services.readModels, (id) => storeChainedInput(pool, id)),
    reactions: [whenRunFinishedStartChained],
  }).runOnce(signal);
  return runId;
}

const why = async (runId: string) => (await developer.get(`/api/v1/runs/${runId}/why`)).json;

describe('two scripts', () => {
  test('can be chained, and the chain can be listed, changed and deleted', async () => {
    const [source, target] = await scripts(2);
    const made = await developer.post(path, { source_script_id: source, target_script_id: target });
    expect(made.status, made.text).toBe(201);
    const { id } = made.json;
    expect(made.headers.get('location')).toBe(`${path}/${id}`);
    expect(made.json).toMatchObject({
      source_script_id: source,
      target_script_id: target,
      target_script_name: expect.any(String),
      on: 'success',
      enabled: true,
      when_busy: 'queue',
      params: null,
    });
    expect((await developer.get(`${path}/${id}`)).json).toEqual(made.json);
    for (const query of [`source_script_id=${source}`, `target_script_id=${target}`]) {
      expect((await developer.get(`${path}?${query}`)).json.items).toEqual([made.json]);
    }
    expect((await developer.get(`${path}?target_script_id=${source}`)).json.items).toEqual([]);
    const changes = { on: 'failed', when_busy: 'refuse', params: { limit: 3 } };
    const changed = await developer.patch(`${path}/${id}`, changes);
    expect(changed.json).toMatchObject(changes);
    expect((await developer.patch(`${path}/${id}`, { params: null })).json.params).toBeNull();
    expect((await developer.delete(`${path}/${id}`)).status).toBe(204);
    expect((await developer.get(`${path}/${id}`)).status).toBe(404);
    expect((await developer.get(`${path}?source_script_id=${source}`)).json.items).toEqual([]);
  });

  test('cannot form a cycle, even when an existing chain is edited', async () => {
    const [one, two, three] = await scripts(3);
    const ask = (source?: string, target?: string, more = {}) =>
      developer.post(path, { source_script_id: source, target_script_id: target, ...more });
    expect((await ask(one, one)).status).toBe(422);
    expect((await ask(one, two)).status).toBe(201);
    const back = await ask(two, one);
    expect([back.status, back.json.code]).toEqual([422, 'validation_failed']);
    const idle = (await ask(three, one, { enabled: false })).json;
    const onward = (await ask(two, three)).json;
    expect((await developer.patch(`${path}/${idle.id}`, { enabled: true })).status).toBe(422);
    await developer.patch(`${path}/${onward.id}`, { enabled: false });
    expect((await developer.patch(`${path}/${idle.id}`, { enabled: true })).status).toBe(200);
    expect((await developer.patch(`${path}/${onward.id}`, { target_script_id: one })).status).toBe(
      200,
    );
    expect((await developer.patch(`${path}/${onward.id}`, { enabled: true })).status).toBe(422);
  });

  test('cannot be chained unless both are visible', async () => {
    const [own] = await scripts(1);
    const { id: foreign } = await script(platform.admin, { group_id: groups.bots });
    for (const other of [foreign, nowhere]) {
      for (const [source, target] of [
        [own, other],
        [other, own],
      ]) {
        const body = { source_script_id: source, target_script_id: target };
        expect((await developer.post(path, body)).status).toBe(422);
      }
    }
    const id = await chain(platform.admin, own!, foreign);
    expect((await developer.get(`${path}/${id}`)).status).toBe(404);
    expect(
      (await developer.get(path)).json.items.map((one: { id: string }) => one.id),
    ).not.toContain(id);
    const mine = await chain(developer, own!, (await scripts(1))[0]!);
    const led = await developer.patch(`${path}/${mine}`, { target_script_id: foreign });
    expect(led.status).toBe(422);
  });

  test("require chain parameters that match the target's schema", async () => {
    const schema = {
      type: 'object',
      required: ['limit'],
      properties: { limit: { type: 'integer' } },
    };
    const [source, plain] = await scripts(2);
    const { id: strict } = await script(developer, { parameters_schema: schema });
    const body = { source_script_id: source, target_script_id: strict };
    expect((await developer.post(path, body)).status).toBe(422);
    expect((await developer.post(path, { ...body, params: { limit: 1 } })).status).toBe(201);
    const id = await chain(developer, source!, plain!);
    const led = await developer.patch(`${path}/${id}`, { target_script_id: strict });
    expect(led.status).toBe(422);
  });
});

describe('a chain whose source run has ended', () => {
  test('is shown in the source run and in the started run', async () => {
    const [source, target] = await scripts(2);
    const id = await chain(developer, source!, target!);
    const sourceRun = await end(source!);
    const told = (await why(sourceRun)).chained;
    expect(told).toMatchObject([{ chain_id: id, outcome: 'fired', reason: null }]);
    const [{ run_id: runId }] = told;
    expect((await developer.get(`/api/v1/runs/${runId}`)).json).toMatchObject({
      trigger_type: 'event',
      trigger: { cause: 'chain', chain_id: id, source_run_id: sourceRun, depth: 1 },
    });
    const [queued] = (await why(runId)).items;
    expect(queued.reason).toContain(`Run ${sourceRun} ended and triggered chain ${id}`);
    expect(queued.cause).toMatchObject({ type: 'RunFinished', stream: `run-${sourceRun}` });
    const listed = await developer.get(`${path}/${id}/occurrences`);
    expect(listed.json.items).toMatchObject([{ source_run_id: sourceRun, run_id: runId }]);
  });

  test('shows why no run was started when its target is disabled', async () => {
    const [source, target] = await scripts(2);
    const id = await chain(developer, source!, target!);
    await developer.post(`/api/v1/scripts/${target}/disable`);
    const sourceRun = await end(source!);
    const told = { source_run_id: sourceRun, outcome: 'skipped', reason: 'script_disabled' };
    expect((await why(sourceRun)).chained).toMatchObject([{ chain_id: id, ...told }]);
    const listed = await developer.get(`${path}/${id}/occurrences`);
    expect(listed.json.items).toMatchObject([{ ...told, run_id: null }]);
  });

  test('is hidden while its target is deleted', async () => {
    const [source, target] = await scripts(2);
    const id = await chain(developer, source!, target!);
    await developer.delete(`/api/v1/scripts/${target}`);
    await end(source!);
    expect((await developer.get(`${path}/${id}`)).status).toBe(404);
    await developer.post(`/api/v1/scripts/${target}/undelete`);
    expect((await developer.get(`${path}/${id}/occurrences`)).json.items).toEqual([]);
    await end(source!);
    expect((await developer.get(`${path}/${id}/occurrences`)).json.items).toHaveLength(1);
  });
});
