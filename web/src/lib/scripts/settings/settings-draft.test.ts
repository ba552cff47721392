import { expect, test } from 'vitest';
import type { Script } from '#lib/api/types.ts';
import { draftOf, draftProblems, patchOf } from './settings-draft.ts';

const before = draftOf({
  name: 'Price watcher',
  description: '',
  group_id: 'g1',
  tags: ['prices'],
  entrypoint: 'main.py',
  python: null,
  start_mode: 'warm',
  resident: { idle_seconds: 600, max_runs: 1000, processes: 1 },
  listen_ports: [],
  runs_on: [],
  pools: [],
  protected: { run: false, save: false },
  expectations: [],
  keep_alive: false,
  merge_stderr: false,
  max_concurrent_runs: 1,
  storage_quota_bytes: 104_857_600,
  environment: { TZ: 'Europe/Berlin', EMPTY: '' },
  parameters_schema: null,
  limits: {
    cpu_seconds: 3600,
    memory_bytes: 1_073_741_824,
    address_space_bytes: 8_589_934_592,
    open_files: 256,
    processes: 64,
    wall_clock_seconds: 3600,
    log_bytes: 10_485_760,
    queue_seconds: 86_400,
  },
  retry: { max_attempts: 1, backoff_seconds: 10, backoff_factor: 2, max_backoff_seconds: 3600 },
} as unknown as Script);

test('the patch of an unchanged form is empty', () => {
  expect(patchOf(before, { ...before })).toEqual({});
});

test('the patch contains only changed settings, and null for an emptied limit', () => {
  const draft = { ...before, name: ' New name ', memoryMib: 1.5, wallClockSeconds: null };
  expect(patchOf(before, draft)).toEqual({
    name: 'New name',
    limits: { memory_bytes: 1_572_864, wall_clock_seconds: null },
  });
});

test('the patch contains the start mode and the settings of resident processes', () => {
  const draft = {
    ...before,
    startMode: 'resident' as const,
    idleSeconds: 60,
    residentProcesses: 2,
  };
  expect(patchOf(before, draft)).toEqual({
    start_mode: 'resident',
    resident: { idle_seconds: 60, processes: 2 },
  });
});

test('the patch sets, changes and removes environment variables, including values that contain =', () => {
  const environment = 'TZ=UTC\nURL=https://example.com/?a=b\n\n';
  expect(patchOf(before, { ...before, environment })).toEqual({
    environment: { TZ: 'UTC', URL: 'https://example.com/?a=b', EMPTY: null },
  });
});

test('the patch contains tags, retries and the parameter schema', () => {
  const parametersSchema = '{"type": "object"}';
  const draft = { ...before, tags: 'a, b ,,a', maxAttempts: 3, python: '3.12', parametersSchema };
  expect(patchOf(before, draft)).toEqual({
    tags: ['a', 'b'],
    python: '3.12',
    retry: { max_attempts: 3 },
    parameters_schema: { type: 'object' },
  });
  expect(patchOf(draft, { ...draft, python: '', parametersSchema: ' ' })).toEqual({
    python: null,
    parameters_schema: null,
  });
});

test.each(['not a variable', '=x', 'A B=c'])(
  'the form refuses “%s” as an environment variable',
  (environment) => {
    expect(draftProblems({ ...before, environment }).environment).toContain('NAME=value');
  },
);

test('the patch contains labels, pools and listen ports as lists without duplicates', () => {
  expect(patchOf(before, { ...before, runsOn: 'gpu, zone-b ,gpu' })).toEqual({
    runs_on: ['gpu', 'zone-b'],
  });
  expect(patchOf(before, { ...before, pools: 'crm-api,,db' })).toEqual({
    pools: ['crm-api', 'db'],
  });
  expect(patchOf(before, { ...before, listenPorts: ' 8000,0, 8000 ' })).toEqual({
    listen_ports: [8000, 0],
  });
});

test('the patch contains expectations of each kind', () => {
  const fields = { cron: ' 0 7 * * * ', timezone: 'UTC', minutes: 1.5, factor: 2 };
  const kinds = ['finish_by', 'success_within', 'longer_than'] as const;
  const expectations = kinds.map((kind) => ({ kind, ...fields }));
  expect(patchOf(before, { ...before, expectations })).toEqual({
    expectations: [
      { kind: 'finish_by', cron: '0 7 * * *', timezone: 'UTC' },
      { kind: 'success_within', seconds: 90 },
      { kind: 'longer_than', factor: 2 },
    ],
  });
});

test.each(['http', '80', '65536', '-1', '8000 9000', '1e4'])(
  'the form refuses “%s” as a port',
  (listenPorts) => {
    expect(draftProblems({ ...before, listenPorts }).listenPorts).toContain('not a valid port');
  },
);

test.each(['[]', '1', '{', 'object'])('the form refuses %s as a schema', (parametersSchema) => {
  expect(draftProblems({ ...before, parametersSchema })).toHaveProperty('parametersSchema');
});

test('the form reports no problems in valid settings', () => {
  expect(draftProblems(before)).toEqual({});
});

test('the patch contains the protection only if it has changed', () => {
  expect(patchOf(before, { ...before, protectRuns: true })).toEqual({
    protected: { run: true, save: false },
  });
});
