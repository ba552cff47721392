import { Projector } from '#infra/postgres/projector.ts';
import { auditProjection } from '#projections/audit/apply.ts';
import { eventsVisible } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groups, nowhere, script, someone } from '../testing/people.ts';
import { startTestBackend, type TestBackend } from '../testing/test-backend.ts';
import { statusesOf } from '../testing/test-client.ts';

let platform: TestBackend;
beforeAll(async () => {
  platform = await startTestBackend();
});
afterAll(() => platform.close());

describe('given the seeded groups', () => {
  test('when somebody lists them, then they see their own; administrators see all', async () => {
    const viewer = await someone(platform, { role: 'viewer', groupIds: [groups.bots] });
    const own = (await viewer.get('/api/v1/groups')).json.items;
    expect(own).toMatchObject([{ name: 'bots', color: '#8b5cf6' }]);
    const all = (await platform.admin.get('/api/v1/groups')).json.items;
    expect(all.map((one: { name: string }) => one.name)).toEqual([
      'monitoring',
      'bots',
      'ETL',
      'custom',
    ]);
  });
});

describe('given accounts', () => {
  const wanted = { email: 'Ada@Example.com', password: 'a good password', role: 'operator' };

  test('when one is made, then nobody is shown its password or hash', async () => {
    const made = await platform.admin.post('/api/v1/users', wanted);
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ email: 'ada@example.com', name: 'ada', role: 'operator' });
    const list = await platform.admin.get('/api/v1/users');
    expect(`${made.text}${list.text}`).not.toMatch(/password|hash|\$2b\$/);
    const again = await platform.admin.post('/api/v1/users', wanted);
    expect([again.status, again.json.code]).toEqual([409, 'already_exists']);
  });

  test('when two want the same address at once, then one gets it', async () => {
    const body = { ...wanted, email: 'same@example.com' };
    const answers = await Promise.all(
      [1, 2, 3].map(() => platform.admin.post('/api/v1/users', body)),
    );
    expect(statusesOf(answers)).toEqual([201, 409, 409]);
  });

  test('when the password is over 72 bytes or the group unknown, then it is refused', async () => {
    const long = { ...wanted, email: 'b@x', password: '🔑'.repeat(19) };
    const tooLong = await platform.admin.post('/api/v1/users', long);
    expect(tooLong.json.errors[0].pointer).toBe('/password');
    const lost = { ...wanted, email: 'c@x', group_ids: [nowhere] };
    const noGroup = await platform.admin.post('/api/v1/users', lost);
    expect(noGroup.json.errors[0].pointer).toBe('/group_ids');
    const users = (await platform.admin.get('/api/v1/users?limit=200')).json.items;
    expect(users.filter((one: { email: string }) => /^[bc]@x$/.test(one.email))).toEqual([]);
  });
});

describe('given deeds and refused attempts', () => {
  test('when a reader names a position, then the answer waits until it is there', async () => {
    const trail = '/api/v1/audit?limit=1';
    const made = await platform.admin.post('/api/v1/scripts', { name: 'Awaited' });
    const position = made.headers.get('orch-position') ?? '';
    const answer = platform.admin.get(trail, { headers: { 'Orch-Min-Position': position } });
    await eventsVisible(platform.pool);
    await new Projector(platform.pool, [auditProjection]).runOnce(new AbortController().signal);
    expect((await answer).json.items[0].event_position).toBeGreaterThanOrEqual(Number(position));
  });

  test('when an auditor reads the trail, then both are in it, newest first', async () => {
    const auditor = await someone(platform, {
      role: 'viewer',
      groupIds: [groups.custom],
      canAudit: true,
    });
    await platform.backend.settle();
    const { id } = await script(platform.admin);
    await auditor.with({ 'X-Forwarded-For': '192.0.2.9' }).post(`/api/v1/scripts/${id}/run`);
    await platform.backend.settle();
    await eventsVisible(platform.pool);
    await new Projector(platform.pool, [auditProjection]).runOnce(new AbortController().signal);
    const page = (await auditor.get('/api/v1/audit?limit=2')).json;
    expect(page.items).toMatchObject([
      {
        action: 'POST /api/v1/runs/scripts/{id}/run',
        outcome: 'refused',
        detail: 'forbidden',
        resource: `script-${id}`,
        ip: '192.0.2.9',
      },
      { action: 'script_created', outcome: 'accepted', resource: `script-${id}` },
    ]);
    const rest = (await auditor.get(`/api/v1/audit?limit=2&cursor=${page.next_cursor}`)).json;
    expect(rest.items[0].audit_seq).toBeLessThan(page.items[1].audit_seq);
  });
});
