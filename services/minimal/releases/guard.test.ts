import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Releases, type Installed, type Switch } from '#services/shared/releases.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { guard } from './guard.ts';
import type { Observation, Watched } from './observation.ts';

/** Programs that simulate releases, by the name of their behavior. */
const programs = {
  well: `carryRun(); stay();`,
  'has a service that exits': `carryRun(); stay(); process.send({ ended: 'the backend exited (exit code 1)' });`,
  'fails its self-check': `report(() => ({ status: 'failed', failure: 'sandbox_error' })); stay();`,
  'prints the wrong output': `report(() => ({ status: 'success', answer: 'x' })); stay();`,
  'never finishes its self-check': `report(() => ({ status: 'running' })); stay();`,
  'fails every run': `
    report(() => ({ status: 'running', others: { started: 3, ended: 3, sandboxErrors: 3 } })); stay();`,
  'is busy with other runs': `
    report(() => ({ status: 'queued', others: { started: 1, ended: 0, sandboxErrors: 0 } })); stay();`,
  ends: `process.exit(3);`,
  'exits after it became ready': `process.send('ready', () => process.exit(4));`,
  'never becomes ready': `setInterval(() => {}, 1000);`,
  'corrupts the database': `
    writeFileSync(process.env.DATABASE, 'spoiled'); process.exit(5);`,
} as const;

/** The beginning of every simulated program: responds to the challenge, and reports that the release is up. */
const prelude = `
  const { createHash } = require('node:crypto');
  const { appendFileSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
  const folder = process.env.RELEASES;
  const report = (check) => {
    let wanted = {};
    try { wanted = JSON.parse(readFileSync(folder + '/switch.json', 'utf8')); } catch {}
    const others = { started: 0, ended: 0, sandboxErrors: 0 };
    const { updateId } = wanted;
    const text = JSON.stringify({ updateId, answer: null, failure: null, others, ...check(wanted) });
    writeFileSync(folder + '/check.part', text);
    renameSync(folder + '/check.part', folder + '/self-check.json');
  };
  const carryRun = () => report(({ challenge = '' }) => ({
    status: 'success', answer: createHash('sha256').update(challenge).digest('hex'),
  }));
  const stay = () => {
    process.on('SIGTERM', () => process.exit(0));
    setInterval(() => {}, 1000);
    process.send('ready');
  };`;

let folder: string;
let releases: Releases;
let lines: string[];
const updateId = '019aa3f4-01aa-7c11-8d22-5e6f70819203';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-guard-'));
  releases = new Releases(folder);
  lines = [];
  mkdirSync(join(folder, 'postgres'));
  writeFileSync(join(folder, 'postgres', 'rows'), 'previous');
});
afterEach(() => rmSync(folder, { recursive: true }));

function install(
  version: string,
  does: keyof typeof programs,
  migrations = ['0001_a.sql'],
): Installed {
  const at = releases.folderOf(version);
  mkdirSync(join(at, 'services/minimal'), { recursive: true });
  mkdirSync(join(at, 'migrations'));
  writeFileSync(join(at, 'package.json'), '{"type":"commonjs"}');
  for (const name of migrations) writeFileSync(join(at, 'migrations', name), '');
  const note = `appendFileSync(process.env.STARTED, '${version} ');`;
  writeFileSync(join(at, 'services/minimal/main.ts'), `${prelude}\n${note}\n${programs[does]}`);
  return { version, folder: at };
}

function want(from: Installed, to: Installed, changes: Partial<Switch> = {}): void {
  releases.write('switch', { updateId, kind: 'update', from, to, isTried: false, ...changes });
}

const quick: Observation = {
  startTimeoutMs: 60_000,
  settleMs: 60,
  unhealthyMs: 100,
  selfCheckTimeoutMs: 100,
  everyMs: 10,
};
type Watching = Partial<Observation> & { readonly services?: readonly Watched[] };

/** Runs a guard until it has started these releases in this order, and has recorded the outcome. */
async function watch(
  own: Installed,
  expected: string,
  { services = [], ...observation }: Watching = {},
): Promise<void> {
  const asked = new AbortController();
  const started = join(folder, 'started');
  const watching = guard(
    {
      releases,
      dataDir: folder,
      own,
      environment: {
        ...process.env,
        STARTED: started,
        RELEASES: releases.folder,
        DATABASE: join(folder, 'postgres', 'rows'),
      },
      services,
      say: (line) => lines.push(line),
      // The start timeout is long, because the machine may be busy. Only a release that never becomes ready reaches it.
      observation: { ...quick, ...observation },
      stopTimeoutMs: 200,
    },
    asked.signal,
  );
  const read = () => (existsSync(started) ? readFileSync(started, 'utf8').trim() : '');
  while (releases.read('outcome') === undefined || !read().endsWith(expected)) {
    await new Promise((done) => setTimeout(done, 10));
  }
  asked.abort();
  await watching;
}

const rows = () => readFileSync(join(folder, 'postgres', 'rows'), 'utf8');

describe('a requested release switch', () => {
  test('activates a healthy release, and records the previous release', async () => {
    const [from, to] = [install('0.1.13', 'well'), install('0.1.14', 'well')];
    want(from, to);
    await watch(from, '0.1.14');
    expect(releases.read('active')).toEqual({ ...to, previous: from });
    expect(releases.read('outcome')).toMatchObject({ updateId, kind: 'succeeded' });
    expect(releases.read('switch')).toBeUndefined();
  });

  test.each([
    ['ends', /exited with code 3/, {}],
    ['exits after it became ready', /exited with code 4/, { settleMs: 60_000 }],
    ['never becomes ready', /did not become ready in time/, { startTimeoutMs: 100 }],
    ['corrupts the database', /exited with code 5/, {}],
    ['has a service that exits', /the backend exited \(exit code 1\)/, { settleMs: 60_000 }],
    ['fails its self-check', /self-check run ended with sandbox_error/, {}],
    ['prints the wrong output', /returned the wrong output/, {}],
    ['never finishes its self-check', /self-check run did not finish/, {}],
    ['fails every run', /all 3 runs failed with sandbox_error/, { settleMs: 60_000 }],
  ] as const)(
    'returns to the previous release when the new release %s',
    async (does, reason, observation) => {
      const from = install('0.1.13', 'well');
      const to = install('0.1.14', does, ['0001_a.sql', '0002_b.sql']);
      want(from, to);
      // Does not check whether the program has recorded its start, because the guard may abort the program earlier.
      await watch(from, '0.1.13', observation);
      const outcome = releases.read('outcome');
      expect(outcome).toMatchObject({ updateId, kind: 'rolled_back' });
      expect(outcome?.reason).toMatch(reason);
      expect([releases.read('active'), releases.read('switch')]).toEqual([undefined, undefined]);
      expect(rows()).toBe('previous');
      expect(existsSync(join(folder, 'postgres-before'))).toBe(false);
      expect(releases.read('copy')).toBeUndefined();
    },
  );

  describe('to a release with a service', () => {
    let server: Server;
    let services: readonly Watched[];
    let reply: RequestListener;
    beforeEach(async () => {
      reply = (_, response) => void response.end('ok');
      server = createServer((request, response) => reply(request, response));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      services = [{ name: 'backend', url: `http://127.0.0.1:${port}/health` }];
    });
    afterEach(() => {
      server.closeAllConnections();
      server.close();
    });
    const switchTo = async (expected: string, observation: Watching = {}) => {
      const from = install('0.1.13', 'well');
      want(from, install('0.1.14', 'well', ['0001_a.sql', '0002_b.sql']));
      await watch(from, expected, { services, ...observation });
      return releases.read('outcome');
    };

    test('keeps the release if its service is healthy', async () => {
      expect(await switchTo('0.1.14')).toMatchObject({ kind: 'succeeded' });
    });

    test.each([
      ['does not respond', () => undefined],
      ['is unhealthy', (_, response) => void response.writeHead(503).end()],
    ] satisfies [string, RequestListener][])(
      'rolls back with the previous database when the service %s',
      async (_, replies) => {
        reply = replies;
        expect(await switchTo('0.1.14 0.1.13')).toMatchObject({
          kind: 'rolled_back',
          reason: expect.stringContaining('the backend failed its health check') as string,
        });
        expect(rows()).toBe('previous');
      },
    );

    test('rolls back if the service becomes unhealthy during the observation period', async () => {
      let asked = 0;
      reply = (_, response) => void response.writeHead((asked += 1) > 3 ? 503 : 200).end();
      const outcome = await switchTo('0.1.14 0.1.13', { settleMs: 60_000 });
      expect(outcome).toMatchObject({ kind: 'rolled_back' });
    });
  });

  test('keeps a release whose self-check is still waiting because all slots are occupied', async () => {
    const from = install('0.1.13', 'well');
    want(from, install('0.1.14', 'is busy with other runs'));
    await watch(from, '0.1.14');
    expect(releases.read('outcome')).toMatchObject({ kind: 'succeeded' });
  });

  test('keeps new events during a rollback without a schema change', async () => {
    const [from, to] = [install('0.1.13', 'well'), install('0.1.14', 'corrupts the database')];
    want(from, to);
    await watch(from, '0.1.14 0.1.13');
    expect(rows()).toBe('spoiled');
  });

  test('returns to the previous release after the guard crashes during the trial of the new release', async () => {
    const [from, to] = [install('0.1.13', 'well'), install('0.1.14', 'well')];
    want(from, to, { isTried: true });
    mkdirSync(join(folder, 'postgres-before'));
    writeFileSync(join(folder, 'postgres-before', 'rows'), 'kept');
    await watch(from, '0.1.13');
    expect(releases.read('outcome')).toMatchObject({ kind: 'rolled_back' });
    expect(rows()).toBe('kept');
  });

  test('replaces an incomplete database copy after a crash', async () => {
    const from = install('0.1.13', 'well');
    want(from, install('0.1.14', 'ends', ['0001_a.sql', '0002_b.sql']));
    mkdirSync(join(folder, 'postgres-before.part'));
    writeFileSync(join(folder, 'postgres-before.part', 'rows'), 'half');
    await watch(from, '0.1.14 0.1.13');
    expect(rows()).toBe('previous');
  });
});

describe('a successful update with a migration', () => {
  let from: Installed;
  let to: Installed;
  const rollback = { updateId: '019aa3f4-01aa-7c11-8d22-5e6f70819204', kind: 'rollback' } as const;
  const restores = { updateId, reason: 'Ada rolled back.' };
  beforeEach(async () => {
    from = install('0.1.13', 'well');
    to = install('0.1.14', 'well', ['0001_a.sql', '0002_b.sql']);
    want(from, to);
    await watch(from, '0.1.14');
    writeFileSync(join(folder, 'postgres', 'rows'), 'of after');
    releases.remove('outcome');
    rmSync(join(folder, 'started'));
  });

  test('keeps the previous database for a day', () => {
    const copy = releases.read('copy');
    expect(copy).toMatchObject({
      updateId,
      of: from,
      folder: join(folder, 'postgres-before'),
      sizeBytes: 'previous'.length,
    });
    const keptMs = Date.parse(copy?.expiresAt ?? '') - Date.parse(copy?.madeAt ?? '');
    expect(keptMs).toBeGreaterThanOrEqual(24 * 60 * 60_000);
    expect(readFileSync(join(folder, 'postgres-before', 'rows'), 'utf8')).toBe('previous');
  });

  test('can be rolled back with the previous database', async () => {
    want(to, from, { ...rollback, restores });
    await watch(to, '0.1.13');
    expect(releases.read('active')).toEqual({ ...from, previous: to });
    // The copied database still contains the update as active.
    expect(releases.read('outcome')).toEqual({ ...restores, kind: 'rolled_back' });
    expect([rows(), releases.read('copy')]).toEqual(['previous', undefined]);
    expect(existsSync(join(folder, 'postgres-after'))).toBe(false);
  });

  test('stays active with its data and the database copy if a rollback cannot start the previous release', async () => {
    writeFileSync(join(from.folder, 'services/minimal/main.ts'), 'process.exit(3);');
    want(to, from, { ...rollback, restores });
    await watch(to, '0.1.14');
    expect(releases.read('outcome')).toMatchObject({
      updateId: rollback.updateId,
      kind: 'rolled_back',
    });
    expect(rows()).toBe('of after');
    expect(releases.read('copy')).toMatchObject({ updateId });
    expect(readFileSync(join(folder, 'postgres-before', 'rows'), 'utf8')).toBe('previous');
  });
});
