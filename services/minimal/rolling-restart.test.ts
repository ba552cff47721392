/** Restarts the backends one after another behind the production edition's reverse proxy. */
import { setTimeout as pause } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '#infra/testing/database.ts';
import { caddyService, TestFront } from '#infra/testing/front.ts';
import { openDatabase } from '#infra/postgres/database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { Fleet } from './testing/fleet.ts';
import { until } from './testing/product.ts';

const requests = 300;
const restarts = 4;
const clients = 4;
/** The pause between requests, during which connections to the backends become idle. */
const pauseMs = 100;

describeWith(caddyService, 'two backends behind the front', () => {
  let made: TestDatabase;
  let fleet: Fleet;
  let front: TestFront;
  beforeAll(async () => {
    made = await createTestDatabase();
    fleet = await Fleet.start({
      databaseUrl: made.serviceUrl,
      replicas: { backend: 2, scheduler: 0, runtime: 0 },
      variables: { ORCH_SHUTDOWN_DELAY_SECONDS: '1' },
    });
    const backends = fleet.of('backend').map(({ url }) => new URL(url).host);
    front = await TestFront.start({
      backends,
      change: (text) =>
        text
          .replace('keepalive 3s', 'keepalive 500ms')
          // The backend addresses are fixed in this test, so Caddy can check their health.
          .replace(
            'flush_interval -1',
            'flush_interval -1\nhealth_uri /readyz\nhealth_interval 200ms',
          ),
    });
  }, 180_000);
  afterAll(async () => {
    await fleet.stop();
    await front.stop();
    await made.drop();
  });

  test('complete every request during four rolling restarts', { timeout: 180_000 }, async () => {
    const script = await fleet.call<{ id: string }>('POST', '/scripts', {
      name: 'Restarted',
      max_concurrent_runs: 1000,
    });
    await fleet.call('PUT', `/scripts/${script.id}/files/main.py`, {
      content: 'print(1)',
      encoding: 'utf-8',
    });
    let sent = 0;
    let restarted = 0;
    const refused: string[] = [];
    const accepted: string[] = [];
    const client = async () => {
      // Sends requests until every backend has restarted.
      while (sent < requests || restarted < restarts) {
        sent += 1;
        const answer = await fleet.fetch(front, 'POST', `/runs/scripts/${script.id}/run`, {});
        const text = await answer.text();
        if (answer.ok) accepted.push((JSON.parse(text) as { run_id: string }).run_id);
        else refused.push(`${answer.status} ${text}`);
        await pause(pauseMs);
      }
    };
    const restart = async () => {
      const backends = fleet.of('backend');
      for (; restarted < restarts; restarted += 1) {
        const backend = backends[restarted % backends.length]!;
        await backend.end('SIGTERM');
        const seen = front.log.length;
        backend.start();
        await backend.untilHealthy();
        await until('the front uses the backend again', async () =>
          front.log.slice(seen).some((line) => line.includes('"host is up"')) ? true : undefined,
        );
      }
    };
    await Promise.all([restart(), ...Array.from({ length: clients }, client)]);

    expect(refused).toEqual([]);
    const { pool, close } = openDatabase(made.serviceUrl, {
      connections: 1,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
    const { rows } = await pool.query<{ run_id: string }>('SELECT run_id FROM runs');
    await close();
    expect(rows.map(({ run_id }) => run_id).toSorted()).toEqual(accepted.toSorted());
    expect(accepted.length).toBeGreaterThanOrEqual(requests);
    console.log(`${accepted.length} requests accepted during ${restarts} restarts`);
  });
});
