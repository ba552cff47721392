import { groupId, runId, scriptId, userId } from '#domain/testing/ids.ts';
import { beginning, recordAll } from '#domain/testing/recorded.ts';
import { createUser, finishRun, runScript } from '#domain/testing/samples.ts';
import { defaultLimits, defaultSettings } from '#domain/script/settings.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyAll } from './projection.ts';
import { inlineProjections } from './registry.ts';
import { openTestReads, type TestReads } from './testing/delivery.ts';
import { decisionReads } from './decision-reads.ts';

const settings = { ...defaultSettings, maxConcurrentRuns: 3 };
const start = { type: 'StartRun', runtimeId: 'a', layers: [] } as const;

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
  const events = await recordAll([
    ...beginning,
    createUser(),
    { type: 'ChangeScript', scriptId: scriptId(), settings },
    ...[1, 2, 3].map((number) => runScript({ runId: runId(number) })),
    { ...start, runId: runId(1) },
    { ...start, runId: runId(2) },
    runScript({ runId: runId(4), whenBusy: 'queue' }),
    finishRun({ runId: runId(1) }),
    { type: 'DisableScript', scriptId: scriptId() },
  ]);
  await applyAll(inlineProjections, reads.db, events);
});
afterAll(() => reads.close());

test('the facts about a script include the numbers of its active and waiting runs', async () => {
  expect(await decisionReads(reads.db).script(scriptId())).toEqual({
    name: 'Report',
    groupId: groupId(),
    version: 2,
    enabled: false,
    deleted: false,
    maxConcurrentRuns: 3,
    entrypoint: 'main.py',
    limits: defaultLimits,
    environment: {},
    python: null,
    startMode: 'warm',
    listenPorts: [],
    runsOn: [],
    pools: [],
    protectedRun: false,
    resolution: null,
    source: null,
    activeRuns: 2,
    waitingRuns: 1,
  });
  expect(await decisionReads(reads.db).script(scriptId(9))).toBeUndefined();
});

test('decisions can check whether groups and email addresses exist', async () => {
  const decisions = decisionReads(reads.db);
  expect(await decisions.groupExists(groupId(2))).toBe(true);
  expect(await decisions.groupExists(groupId(9))).toBe(false);
  expect(await decisions.nameTaken('group', 'REPORTS', groupId(9))).toBe(true);
  expect(await decisions.nameTaken('group', 'Sums', groupId(9))).toBe(false);
  expect(await decisions.emailTaken('ada@example.com')).toBe(true);
  expect(await decisions.emailTaken('bob@example.com')).toBe(false);
  expect(await decisions.groupInUse(groupId(9))).toBe(false);
  expect(await decisions.otherAdministrator(userId(9))).toBe(false);
});
