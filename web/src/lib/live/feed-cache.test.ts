import { QueryClient } from '@tanstack/query-core';
import { expect, test, vi } from 'vitest';
import type { ListedScript, RecentRun, Run, Script } from '#lib/api/types.ts';
import { FeedCache } from './feed-cache.ts';
import type { Pages } from './live-pages.ts';

function setUp(readAt?: number) {
  const client = new QueryClient();
  const waiting: (() => void)[] = [];
  const after = (_delayMs: number, work: () => void) => {
    waiting.push(work);
    return () => {};
  };
  const cache = new FeedCache(client, { after }, readAt);
  const pass = () => {
    for (const work of waiting.splice(0)) work();
  };
  const asked = vi.spyOn(client, 'invalidateQueries');
  return { client, cache, pass, asked };
}

const run = (id: string, more: Partial<Run> = {}) =>
  ({
    run_id: id,
    script_id: 's1',
    script_name: 'One',
    status: 'running',
    finished_at: null,
    trigger: { type: 'manual' },
    ...more,
  }) as Run;
const script = (id: string, more: Partial<Script> = {}) =>
  ({ id, name: id, last_run: null, ...more }) as Script;
const page = <Item>(...items: Item[]): Pages<Item> => ({
  pageParams: [null],
  pages: [{ items, next_cursor: null }],
});
const ended = { status: 'success', finished_at: '2026-11-21T02:31:00.000Z' } as const;

test('a progress frame updates the run in the lists without a request to the server', () => {
  const { client, cache, pass, asked } = setUp();
  client.setQueryData(['runs', {}], page(run('r1'), run('r2')));
  client.setQueryData(['audit', {}], page({}));
  const progress = { fraction: 0.4, text: 'page 4', eta: null };
  cache.take({ type: 'progress', run_id: 'r1', progress });
  pass();
  const items = client.getQueryData<Pages<Run>>(['runs', {}])?.pages[0]?.items;
  expect(items).toEqual([run('r1', { progress }), run('r2')]);
  expect(asked).not.toHaveBeenCalled();
});

test('a run appears in each list whose filter it matches, and is removed from the other lists', () => {
  const { client, cache, pass, asked } = setUp();
  client.setQueryData(['runs', {}], page<Run>());
  client.setQueryData(['runs', { status: 'running' }], page(run('r1')));
  client.setQueryData(['script-runs', 's1'], page<Run>());
  cache.take({ type: 'status', run: run('r1', ended) });
  pass();
  const shown = (key: unknown[]) => client.getQueryData<Pages<Run>>(key)?.pages[0]?.items;
  expect(shown(['runs', {}])).toEqual([run('r1', ended)]);
  expect(shown(['runs', { status: 'running' }])).toEqual([]);
  expect(shown(['script-runs', 's1'])).toEqual([run('r1', ended)]);
  expect(asked).not.toHaveBeenCalled();
});

test('several changed runs reload the current state of the dashboard only once', () => {
  const { client, cache, pass, asked } = setUp();
  client.setQueryData(['dashboard', 'now'], { running: [] });
  for (const id of ['r1', 'r2']) cache.take({ type: 'status', run: run(id) });
  pass();
  expect(asked).not.toHaveBeenCalled();
  pass();
  expect(asked.mock.calls).toEqual([[{ queryKey: ['dashboard', 'now'] }]]);
});

test('a run that failed with an error reloads the error groups', () => {
  const { cache, pass, asked } = setUp();
  cache.take({ type: 'status', run: run('r1', { ...ended, error_group_id: 'e1' }) });
  pass();
  pass();
  expect(asked.mock.calls).toEqual([[{ queryKey: ['error-groups'] }]]);
});

test('a finished run becomes the last run of its script, unless a newer run has already ended', () => {
  const { client, cache, pass } = setUp();
  client.setQueryData(['scripts'], page(script('s1'), script('s2')));
  client.setQueryData(['script', 's1'], { script: script('s1'), etag: '"1"' });
  cache.take({ type: 'status', run: run('r2', ended) });
  pass();
  cache.take({ type: 'status', run: run('r1', ended) });
  cache.take({ type: 'status', run: run('r3') });
  pass();
  const last = { run_id: 'r2', ...ended };
  const list = client.getQueryData<Pages<Script>>(['scripts'])?.pages[0]?.items;
  expect(list?.map((one) => one.last_run)).toEqual([last, null]);
  expect(client.getQueryData(['script', 's1'])).toMatchObject({
    script: { last_run: last },
    etag: '"1"',
  });
});

test('a script lists its latest runs, even after its settings have changed', () => {
  const { client, cache, pass } = setUp();
  const recent = ({ run_id, status, finished_at, duration_ms }: Run): RecentRun => ({
    run_id,
    status,
    finished_at,
    duration_ms,
  });
  const runs = Array.from({ length: 11 }, (_, index) => run(`r${10 + index}`));
  const activity = { recent_runs: [recent(runs[0]!)], next_fire_at: null };
  const listed: ListedScript = { ...script('s1'), activity };
  client.setQueryData(['scripts'], page(listed, script('s2')));
  for (const one of runs) cache.take({ type: 'status', run: one });
  pass();
  cache.take({ type: 'script', script: script('s1', { name: 'New' }) });
  cache.take({ type: 'status', run: run('r20', ended) });
  pass();
  const [shown, other] =
    client.getQueryData<Pages<ListedScript>>(['scripts'])?.pages[0]?.items ?? [];
  expect(shown?.name).toBe('New');
  const newest = runs.slice(1, -1).toReversed().map(recent);
  expect(shown?.activity?.recent_runs).toEqual([recent(run('r20', ended)), ...newest]);
  expect(other?.activity).toBeUndefined();
});

test('several new runs reload a list filtered by group only once', () => {
  const { client, cache, pass, asked } = setUp();
  const key = ['runs', { group_id: 'g' }];
  client.setQueryData(key, page<Run>());
  cache.take({ type: 'status', run: run('r1') });
  cache.take({ type: 'status', run: run('r2') });
  pass();
  expect(asked).not.toHaveBeenCalled();
  pass();
  expect(asked).toHaveBeenCalledTimes(1);
  expect(asked).toHaveBeenCalledWith({ queryKey: key, exact: true });
});

test('script frames add, change and remove scripts, and reload the open script to get its ETag', () => {
  const { client, cache, pass, asked } = setUp();
  client.setQueryData(['scripts'], page(script('s2'), script('s1')));
  cache.take({ type: 'script', script: script('s3') });
  cache.take({ type: 'script', script: script('s2', { name: 'renamed' }) });
  cache.take({ type: 'script_deleted', script_id: 's1' });
  pass();
  const names = client
    .getQueryData<Pages<Script>>(['scripts'])
    ?.pages[0]?.items.map((one) => one.name);
  expect(names).toEqual(['s3', 'renamed']);
  expect(asked).toHaveBeenCalledWith({ queryKey: ['script', 's2'] });
});

test('a script frame updates a sorted list, and reloads the list if the script may belong to it', () => {
  const { client, cache, pass, asked } = setUp();
  const key = ['scripts', { sort: 'name' }];
  client.setQueryData(key, page(script('s1'), script('s9')));
  client.setQueryData(['scripts', 'find', 's'], [script('s1')]);
  cache.take({ type: 'script', script: script('s1', { name: 'renamed' }) });
  cache.take({ type: 'script', script: script('s3') });
  pass();
  const names = client.getQueryData<Pages<Script>>(key)?.pages[0]?.items.map((one) => one.name);
  expect(names).toEqual(['renamed', 's9']);
  pass();
  expect(asked).toHaveBeenCalledWith({ queryKey: key, exact: true });
});

test('a change during a pending request reloads the list', async () => {
  const { client, cache, pass, asked } = setUp();
  const answer = Promise.withResolvers<Pages<Run>>();
  const fetched = client.fetchQuery({ queryKey: ['runs', {}], queryFn: () => answer.promise });
  cache.take({ type: 'status', run: run('r1') });
  pass();
  pass();
  expect(asked).toHaveBeenCalledWith({ queryKey: ['runs', {}], exact: true });
  answer.resolve(page<Run>());
  await fetched;
});

test('a resync frame reloads all displayed data', () => {
  const { cache, asked } = setUp();
  cache.take({ type: 'resync', position: 7 });
  const keys = asked.mock.calls.map(([filters]) => filters?.queryKey?.[0]);
  expect(keys).toEqual(expect.arrayContaining(['runs', 'scripts', 'schedules', 'webhooks']));
});

test('the first resync frame reloads nothing if nothing has changed since the data was read', () => {
  const { cache, asked } = setUp(7);
  cache.take({ type: 'resync', position: 7 });
  expect(asked).not.toHaveBeenCalled();
  cache.take({ type: 'resync', position: 8 });
  expect(asked).toHaveBeenCalledWith({ queryKey: ['runs'] });
});

test('several announcements of the same resource reload it only once', () => {
  const { cache, pass, asked } = setUp();
  const frame = { type: 'changed', resource: 'secrets', id: 's1', script_id: 's1' } as const;
  cache.take(frame);
  cache.take(frame);
  expect(asked).not.toHaveBeenCalled();
  pass();
  expect(asked.mock.calls).toEqual([[{ queryKey: ['secrets', 's1'] }]]);
});

test('a run that a schedule started reloads the run history of the schedule', () => {
  const { cache, pass, asked } = setUp();
  const trigger = { type: 'schedule', schedule_id: 'd1' } as Run['trigger'];
  cache.take({ type: 'status', run: run('r1', { trigger }) });
  pass();
  pass();
  expect(asked).toHaveBeenCalledWith({ queryKey: ['occurrences', 'd1'] });
});

test('a changed chain reloads the list of chains and the run history of the chain', () => {
  const { cache, pass, asked } = setUp();
  cache.take({ type: 'changed', resource: 'chain', id: 'c1', script_id: 's1' });
  pass();
  expect(asked).toHaveBeenCalledWith({ queryKey: ['chains'] });
  expect(asked).toHaveBeenCalledWith({ queryKey: ['chain-answers', 'c1'] });
});

test('every change reloads the newest page of the audit trail, unless older pages are also loaded', () => {
  const { client, cache, pass, asked } = setUp();
  client.setQueryData(['audit', {}], page({}));
  const backThere = { pageParams: [null, 'x'], pages: [...page({}).pages, ...page({}).pages] };
  client.setQueryData(['audit', { actor: 'ada' }], backThere);
  const newest = { queryKey: ['audit', {}], exact: true };
  const take = (frame: Parameters<typeof cache.take>[0]) => {
    asked.mockClear();
    cache.take(frame);
    pass();
    return asked.mock.calls.map(([filters]) => filters);
  };
  expect(take({ type: 'heartbeat', position: 7 })).toEqual([newest]);
  expect(take({ type: 'heartbeat', position: 7 })).toEqual([]);
  expect(take({ type: 'heartbeat', position: 8 })).toEqual([newest]);
  expect(take({ type: 'status', run: run('r1') })).toEqual([newest]);
});
