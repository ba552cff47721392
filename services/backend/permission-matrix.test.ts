/** Tests each operation with each caller and each state of its resource against the specification of rights.
 *  permissions.test.ts tests valid requests of permitted callers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formsOf } from './http/operation.ts';
import { operations } from './operations.ts';
import { deadCallers, liveCallers, type KnownCaller } from './testing/callers.ts';
import { addressOf, addressOfNothing, type Form } from './testing/named-things.ts';
import { groups } from './testing/people.ts';
import { refusalFor, rightsSpecification, type Entry } from './testing/rights-specification.ts';
import { administrator, startTestBackend, type TestBackend } from './testing/test-backend.ts';

const forms = operations.flatMap((one) => formsOf(one).map((form) => ({ one, ...form })));
const states = ['present', 'deleted', 'purged'] as const;
/** One group for each state. Callers belong only to the group `own`. */
let places: Readonly<Record<'own' | (typeof states)[number], string>>;

let nowMs = Date.now();
let platform: TestBackend;
let live: readonly KnownCaller[];
let dead: readonly KnownCaller[];
beforeAll(async () => {
  platform = await startTestBackend({ clock: { now: () => new Date(nowMs) } });
  const group = async (name: string) =>
    ((await platform.admin.post('/api/v1/groups', { name })).json as { id: string }).id;
  places = {
    own: groups.custom,
    present: groups.bots,
    deleted: await group('Deleted'),
    purged: await group('Purged'),
  };
  dead = await deadCallers(platform, () => (nowMs += 2 * 24 * 3_600_000));
  platform = { ...platform, admin: await platform.anonymous.signIn(administrator) };
  live = await liveCallers(platform, [groups.custom]);
});
afterAll(() => platform.close());

function entryOf({ one }: Form): Entry {
  const entry = rightsSpecification.get(one.operationId);
  if (entry === undefined)
    throw new Error(`${one.operationId} is not in the specification of rights`);
  return entry;
}

interface Seen {
  readonly status: number;
  /** The body without its trace ID. Trace IDs differ between requests. */
  readonly body: string;
}

async function ask({ client }: KnownCaller, { one, method }: Form, address: string): Promise<Seen> {
  const body = one.body && JSON.stringify(one.body.example ?? {});
  const answer = await client.send(method.toUpperCase(), address, body, {
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
  });
  const { status, text } = answer;
  return { status, body: text.replace(/"trace_id":"\w+"/, '') };
}

test('the specification lists exactly the existing operations', () => {
  const known = [...rightsSpecification.keys()];
  expect(known.toSorted()).toEqual(operations.map((one) => one.operationId).toSorted());
});

describe.each(forms)('$method $path', (form) => {
  test('allows exactly the callers that the specification lists', async () => {
    const entry = entryOf(form);
    // The undeclared parameter is refused after the permission check and before any effect, so a permitted request gets
    // 400.
    const address = `${addressOfNothing(form)}?undeclared=1`;
    // This operation accepts undeclared parameters of identity providers. Without a sign-in in progress, it redirects
    // the browser.
    const admitted = form.one.operationId === 'finishProviderSignIn' ? 303 : 400;
    const wrong: unknown[] = [];
    const check = async (who: KnownCaller) => {
      const { status } = await ask(who, form, address);
      const expected = refusalFor(entry, who.caller) ?? admitted;
      if (status !== expected) wrong.push({ who: who.name, status, expected });
    };
    await Promise.all([...dead, ...live].map(check));
    expect(wrong).toEqual([]);
  });
});

describe('resources of other groups', () => {
  // Pools and calendars belong to no group, because scripts of all groups share them.
  const named = forms.filter(
    (form) =>
      form.path.includes('{') &&
      !form.path.includes('{pool_id}') &&
      !form.path.includes('{calendar_id}') &&
      entryOf(form).needs !== 'public',
  );

  test('look like unknown resources, regardless of their state', async () => {
    const addresses = new Map<Form, readonly string[]>();
    for (const form of named) {
      const made = [];
      for (const state of states) {
        const place = { groupId: places[state], owner: platform.admin };
        made.push(await addressOf(platform, form, place));
      }
      addresses.set(form, made);
    }
    await removeScripts(places.deleted, false);
    await removeScripts(places.purged, true);
    const wrong: unknown[] = [];
    let calls = 0;
    for (const [form, made] of addresses) {
      const admitted = live.filter(
        ({ caller }) =>
          caller?.role !== 'administrator' && refusalFor(entryOf(form), caller) === undefined,
      );
      const check = async (who: KnownCaller) => {
        const [nothing, ...seen] = await Promise.all(
          [addressOfNothing(form), ...made].map((address) => ask(who, form, address)),
        );
        calls += made.length;
        if (nothing?.status !== 404) wrong.push({ who: who.name, path: form.path, nothing });
        for (const [index, one] of seen.entries()) {
          if (one.status === nothing?.status && one.body === nothing.body) continue;
          wrong.push({ who: who.name, state: states[index], path: form.path, one });
        }
      };
      await Promise.all(admitted.map(check));
    }
    expect(wrong).toEqual([]);
    expect(calls).toBeGreaterThan(1000);
  });

  /** Deletes the scripts of a group and all their resources. */
  async function removeScripts(groupId: string, isPurged: boolean): Promise<void> {
    const { admin } = platform;
    for (;;) {
      const path = `/api/v1/scripts?group_id=${groupId}&limit=200`;
      const { items } = (await admin.get(path)).json as { items: readonly { id: string }[] };
      if (items.length === 0) return;
      for (const { id } of items) {
        await admin.delete(`/api/v1/scripts/${id}`);
        if (isPurged) await admin.post(`/api/v1/scripts/${id}/purge`);
      }
    }
  }
});
