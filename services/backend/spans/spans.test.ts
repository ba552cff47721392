import type { Recorded } from '#domain/aggregates.ts';
import type { RunEvent } from '#domain/run/events.ts';
import { saveSpans } from '#infra/postgres/logs/run-spans.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finishRun, groups, run, script, someone, startRun } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { platformSpans } from './view.ts';

const at = (ms: number) => new Date(Date.UTC(2026, 10, 21) + ms);
const text = (ms: number) => at(ms).toISOString();
const event = (type: RunEvent['type'], ms: number, data: object = {}) =>
  ({ type, recordedAt: at(ms), data }) as unknown as Recorded<RunEvent>;

const queued = event('RunQueued', 0);
const started = event('RunStarted', 130, {
  timing: { claimedAt: text(20), preparedAt: text(120) },
});
const timing = { startedAt: text(140), exitedAt: text(900) };

function shown(...events: readonly Recorded<RunEvent>[]) {
  return platformSpans(events).map((span) => {
    const end = span.ended_at === null ? '…' : span.ended_at.getTime() - at(0).getTime();
    return `${span.name} ${span.started_at.getTime() - at(0).getTime()}–${end} ${span.status}`;
  });
}

describe('platformSpans', () => {
  test('splits a run into its steps, in milliseconds', () => {
    expect(
      shown(queued, started, event('RunFinished', 950, { outcome: 'success', timing })),
    ).toEqual([
      'queue 0–20 ok',
      'environment 20–120 ok',
      'start 120–140 ok',
      'run 140–900 ok',
      'report 900–950 ok',
    ]);
  });

  test('leaves the last step of an active run open', () => {
    expect(shown(queued)).toEqual(['queue 0–… running']);
    expect(shown(queued, started)).toEqual([
      'queue 0–20 ok',
      'environment 20–120 ok',
      'start 120–130 ok',
      'run 130–… running',
    ]);
  });

  test('marks the step in which a run failed', () => {
    const failed = event('RunFinished', 950, { outcome: 'exit_code', timing });
    expect(shown(queued, started, failed)).toContain('run 140–900 error');
    const unprepared = event('RunFinished', 500, {
      outcome: 'environment_error',
      timing: { claimedAt: text(20) },
    });
    expect(shown(queued, unprepared)).toEqual(['queue 0–20 ok', 'environment 20–500 error']);
    expect(
      shown(queued, started, event('RunFinished', 950, { outcome: 'runtime_lost' })).at(-1),
    ).toBe('run 130–950 error');
  });

  test('omits steps that earlier releases did not record', () => {
    const old = event('RunStarted', 130);
    expect(shown(queued, old, event('RunFinished', 950, { outcome: 'success' }))).toEqual([
      'queue 0–130 ok',
      'run 130–950 ok',
    ]);
  });

  test('keeps the order of the steps even if the clocks of the processes differ', () => {
    const early = event('RunFinished', 110, { outcome: 'success', timing });
    for (const { started_at, ended_at } of platformSpans([queued, started, early])) {
      expect(started_at.getTime()).toBeLessThanOrEqual(ended_at?.getTime() ?? 0);
      expect(ended_at?.getTime()).toBeLessThanOrEqual(at(110).getTime());
    }
  });
});

describe('GET /runs/{run_id}/spans', () => {
  let platform: TestBackend;
  beforeAll(async () => {
    platform = await startTestBackend();
  });
  afterAll(() => platform.close());

  test("returns the steps and the script's spans to users who can see the run", async () => {
    const developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
    const runId = await run(developer, (await script(developer)).id);
    const fence = await startRun(platform, runId);
    const common = { parentId: null, startedAt: at(0), failed: false, attributes: { url: 'x' } };
    await saveSpans(platform.services.database, runId, [
      { ...common, spanId: '000000000000000a', name: 'fetch', endedAt: at(5) },
      { ...common, spanId: '000000000000000b', name: 'parse', endedAt: null },
      {
        ...common,
        spanId: '000000000000000c',
        name: 'page',
        parentId: '000000000000000a',
        endedAt: null,
      },
    ]);
    const read = async () => {
      const { items } = (await developer.get(`/api/v1/runs/${runId}/spans`)).json as {
        items: { kind: string; name: string; parent_id: string; status: string }[];
      };
      return items.map((one) => `${one.kind} ${one.parent_id} ${one.name} ${one.status}`);
    };
    expect(await read()).toEqual([
      'platform null queue ok',
      'platform null run running',
      'script run fetch ok',
      'script run parse running',
      'script 000000000000000a page running',
    ]);
    await finishRun(platform, runId, fence);
    expect((await read()).slice(2)).toEqual([
      'script run fetch ok',
      'script run parse unfinished',
      'script 000000000000000a page unfinished',
    ]);
    const other = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    expect((await other.get(`/api/v1/runs/${runId}/spans`)).status).toBe(404);
  });
});
