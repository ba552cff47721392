import { once } from 'node:events';
import { purgeTickets } from '#infra/postgres/access/ws-tickets.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { FrameLog } from '../testing/frame-log.ts';
import { groups, run, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import type { TestClient } from '../testing/test-client.ts';

let platform: TestBackend;
let developer: TestClient;
const opened: WebSocket[] = [];
beforeAll(async () => {
  platform = await startTestBackend();
  developer = await someone(platform, { role: 'developer', groupIds: [groups.custom] });
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate();
});
afterAll(() => platform.close());

async function ticketOf(client: TestClient): Promise<string> {
  const answer = await client.post('/api/v1/auth/ws-ticket');
  expect(answer.status, answer.text).toBe(201);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return (answer.json as { ticket: string }).ticket;
}

/** Expires all tickets. */
async function makeOld(): Promise<void> {
  await platform.pool.query(
    `WITH present AS (DELETE FROM ws_tickets RETURNING *)
     INSERT INTO ws_tickets SELECT ticket_sha256, session_id, now() FROM present`,
  );
}

function open(path: string, headers: Readonly<Record<string, string>> = {}): WebSocket {
  const socket = new WebSocket(`${platform.origin.replace('http', 'ws')}${path}`, { headers });
  opened.push(socket);
  return socket;
}

const frame = (path: string) => new FrameLog(open(path)).until((all) => all.frames.length > 0);

async function closeCode(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number];
  return code;
}

describe('a ticket', () => {
  test('opens one socket', async () => {
    const ticket = await ticketOf(developer);
    await frame(`/ws?token=${ticket}`);
    expect(await closeCode(open(`/ws?token=${ticket}`))).toBe(4401);
    const runId = await run(developer, (await script(developer)).id);
    const another = await ticketOf(developer);
    await frame(`/ws/runs/${runId}?from_seq=1&token=${another}`);
    expect(await closeCode(open(`/ws/runs/${runId}?token=${another}`))).toBe(4401);
  });

  test('opens only one socket when two clients use it concurrently', async () => {
    const ticket = await ticketOf(developer);
    const outcomes = [0, 1, 2, 3].map(() => {
      const frames = new FrameLog(open(`/ws?token=${ticket}`));
      return Promise.race([frames.closed, frames.until((all) => all.frames.length > 0)]);
    });
    const codes = await Promise.all(outcomes);
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes.filter((code) => code === 4401)).toHaveLength(3);
  });

  test('is refused with 4401 if it is too old, forged or empty', async () => {
    const ticket = await ticketOf(developer);
    await makeOld();
    const headers = { Authorization: `Bearer ${developer.token}` };
    for (const bad of [ticket, `${ticket.slice(0, -1)}_`, '', 'x', developer.token]) {
      expect(await closeCode(open(`/ws?token=${bad}`, headers))).toBe(4401);
    }
  });

  test('is refused with 4401 when its session has ended', async () => {
    const leaving = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    const ticket = await ticketOf(leaving);
    await leaving.post('/api/v1/auth/logout');
    expect(await closeCode(open(`/ws?token=${ticket}`))).toBe(4401);
  });

  test('is refused with 4404 for a run of another group', async () => {
    const other = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    const runId = await run(developer, (await script(developer)).id);
    const ticket = await ticketOf(other);
    expect(await closeCode(open(`/ws/runs/${runId}?token=${ticket}`))).toBe(4404);
  });

  test('is not stored in tables, events or logs', async () => {
    const ticket = await ticketOf(developer);
    await frame(`/ws?token=${ticket}`);
    expect(await closeCode(open(`/ws?token=${ticket}`))).toBe(4401);
    await platform.backend.settle();
    const { rows } = await platform.pool.query<{ row: string }>(
      `SELECT ws_tickets::text AS row FROM ws_tickets UNION ALL SELECT events::text FROM events`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ row }) => row.includes(ticket))).toEqual([]);
    expect(JSON.stringify(platform.logged)).not.toContain(ticket);
  });
});

describe('the tickets of one session', () => {
  test('are limited to the newest twenty, and expired ones are removed', async () => {
    const client = await someone(platform, { role: 'viewer', groupIds: [groups.custom] });
    const tickets: string[] = [];
    for (let made = 0; made < 25; made += 1) tickets.push(await ticketOf(client));
    const left = async () => {
      const count = 'SELECT count(*) FROM ws_tickets';
      return (await platform.pool.query<{ count: number }>(count)).rows[0]?.count;
    };
    expect(await closeCode(open(`/ws?token=${tickets[0]}`))).toBe(4401);
    await frame(`/ws?token=${tickets[5]}`);
    await makeOld();
    await ticketOf(client);
    expect(await purgeTickets(platform.pool)).toBe(false);
    expect(await left()).toBe(1);
  });
});
