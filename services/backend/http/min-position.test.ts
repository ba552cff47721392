import { eventsVisible } from '#infra/testing/platform.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';

/** Only these tests run the projector, so they control the position of the audit trail. */
let platform: TestBackend;
let hasty: TestBackend;
beforeAll(async () => {
  // Other tests on the same PostgreSQL server can delay the visibility of events.
  platform = await startTestBackend({ positionTimeoutMs: 120_000 });
  hasty = await startTestBackend({ positionTimeoutMs: 50 });
});
afterAll(async () => {
  await platform.close();
  await hasty.close();
});

const { signal } = new AbortController();

async function project(of: TestBackend): Promise<void> {
  await eventsVisible(of.pool);
  await new Projector(of.pool, [auditProjection]).runOnce(signal);
}

/** Writes an event. @returns its position from the response */
async function write(of: TestBackend, name = 'Written'): Promise<number> {
  const { headers } = await of.admin.post('/api/v1/scripts', { name });
  return Number(headers.get('orch-position'));
}

function read(of: TestBackend, path: string, position: number | string) {
  return of.admin.get(path, { headers: { 'Orch-Min-Position': String(position) } });
}

describe('a read with the position of a write', () => {
  test('shows the write immediately if the read model is synchronous', async () => {
    const position = await write(hasty, 'There');
    const answer = await read(hasty, '/api/v1/scripts', position);
    expect(answer.status).toBe(200);
    expect(answer.json.items.map((one: { name: string }) => one.name)).toContain('There');
  });

  test('of the audit trail waits for exactly that event', async () => {
    const position = await write(platform);
    let answered = false;
    const answer = read(platform, '/api/v1/audit?limit=1', position);
    void answer.finally(() => (answered = true));
    expect((await platform.admin.get('/api/v1/scripts')).status).toBe(200);
    expect(answered).toBe(false);
    await project(platform);
    expect((await answer).json.items[0].event_position).toBeGreaterThanOrEqual(position);
    await write(platform, 'Later, and not waited for');
    expect((await read(platform, '/api/v1/audit', position)).status).toBe(200);
  });

  test('returns 503 if the audit trail does not reach the position in time', async () => {
    const answer = await read(hasty, '/api/v1/audit', await write(hasty));
    expect(answer.status).toBe(503);
    expect(answer.json.code).toBe('unavailable');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a read with a future position', () => {
  test.each(['/api/v1/scripts', '/api/v1/audit', '/api/v1/groups'])(
    'of %s returns 503 if the position is not reached',
    async (path) => {
      const answer = await read(hasty, path, 999_999_999_999_999);
      expect([answer.status, answer.json.code]).toEqual([503, 'unavailable']);
    },
  );

  test('shows the write if the position is reached in time', async () => {
    const next = (await write(platform)) + 1;
    const answer = read(platform, '/api/v1/scripts', next);
    expect(await write(platform, 'Awaited')).toBeGreaterThanOrEqual(next);
    const { items } = (await answer).json as { items: readonly { name: string }[] };
    expect(items.map((one) => one.name)).toContain('Awaited');
  });
});

describe('an invalid position', () => {
  test.each(['', '-1', '1.5', 'x', '1 or 1=1', '9'.repeat(16)])(
    'is refused when it is "%s"',
    async (position) => {
      const answer = await read(platform, '/api/v1/scripts', position);
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter']);
    },
  );

  test('is reported only to authenticated callers', async () => {
    const headers = { 'Orch-Min-Position': 'x' };
    expect((await platform.anonymous.get('/api/v1/scripts', { headers })).status).toBe(401);
  });

  test('does not delay reads if it belongs to a rolled-back transaction', async () => {
    const client = await platform.pool.connect();
    await client.query('BEGIN');
    // Uses the position of this event instead of the sequence's last number, because refusals of earlier tests may
    // still be recorded.
    const { rows } = await client.query<{ global_position: number }>(
      `INSERT INTO events (stream_id, version, event_id, type, schema_version, data, metadata, recorded_at)
      VALUES ('test-x', 1, gen_random_uuid(), 'X', 1, '{}', '{}', now()) RETURNING global_position`,
    );
    await client.query('ROLLBACK');
    client.release();
    const { status } = await read(platform, '/api/v1/audit', rows[0]?.global_position ?? 0);
    expect(status).toBe(200);
  });
});
