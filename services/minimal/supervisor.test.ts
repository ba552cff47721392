import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loopbackAddresses } from '#infra/testing/loopback.ts';
import { Fixture, type Supervisor } from './testing/fixture.ts';

/** A fixture that was started once. Tests copy its data. */
const earlier = new Fixture();
let fixture: Fixture;
beforeAll(async () => {
  await earlier.prepare();
  const first = earlier.start();
  await first.says('Dashboard');
  await first.stop();
});
afterAll(() => earlier.remove());
beforeEach(async () => {
  fixture = new Fixture();
  await fixture.prepare();
});
afterEach(() => fixture.remove());

async function untilGone(pids: readonly number[]): Promise<void> {
  for (const pid of pids) while (existsSync(`/proc/${pid}`)) await pause(10);
}

function everyChild(supervisor: Supervisor): readonly number[] {
  const pids = supervisor.children('');
  expect(pids).toHaveLength(3);
  return pids;
}

/** Returns the text of a file, which may not exist. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function only(pids: readonly number[]): number {
  expect(pids).toHaveLength(1);
  return pids[0] ?? 0;
}

/** Returns the URLs of a port on every loopback address. */
const urls = (port: number): readonly string[] =>
  loopbackAddresses.map((host) => `http://${host.includes(':') ? `[${host}]` : host}:${port}/`);
const onDemand = (): string => `http://127.0.0.1:${fixture.onDemandPort}/`;

/** Returns the health of each permanent service on every loopback address. */
async function health(): Promise<number[]> {
  const each = fixture.ports.map(async (port) => {
    const answers = await Promise.all(urls(port).map((url) => fetch(`${url}health`)));
    return Math.max(...answers.map(({ status }) => status));
  });
  return await Promise.all(each);
}

describe('the first start in an empty data folder', () => {
  test('starts all services, and prints the password only once', async () => {
    const first = fixture.start({ ORCH_ADMIN_EMAIL: 'me@example.org' });
    await first.says('shown only once');
    expect(await health()).toEqual([200, 200]);
    const secret = join(fixture.dataDir, 'secrets/ORCH_ADMIN_PASSWORD');
    const password = readFileSync(secret, 'utf8').trim();
    expect(statSync(secret).mode & 0o777).toBe(0o600);
    expect(first.output).toContain(`Sign in as me@example.org with ${password}`);
    expect(await fixture.environmentOf('first')).toMatchObject({
      ORCH_ADMIN_EMAIL: 'me@example.org',
      ORCH_ADMIN_PASSWORD_FILE: secret,
    });
    expect(Object.keys(await fixture.environmentOf('second'))).not.toContain(
      'ORCH_ADMIN_PASSWORD_FILE',
    );
    const pids = everyChild(first);
    expect(await first.stop()).toBe(0);
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);

    const second = fixture.start();
    await second.says('Dashboard');
    expect(await health()).toEqual([200, 200]);
    expect(Object.keys(await fixture.environmentOf('first'))).not.toContain(
      'ORCH_ADMIN_PASSWORD_FILE',
    );
    await second.stop();
    expect(second.output).not.toContain(password);

    rmSync(join(fixture.dataDir, 'secrets/SECRET_MASTER_KEY'));
    const third = fixture.start();
    expect(await third.end()).toBe(1);
    expect(third.output).toContain('The master key is missing');
  });

  test('lists all invalid settings, and creates nothing', async () => {
    const supervisor = fixture.start({
      ORCH_RUNTIME_SLOTS: 'many',
      SECRET_MASTER_KEY: 'short',
      ORCH_LEASE_SECONDS: '0',
      ORCH_HTP_PORT: '8080',
    });
    expect(await supervisor.end()).toBe(1);
    for (const name of ['ORCH_RUNTIME_SLOTS', 'SECRET_MASTER_KEY', 'ORCH_LEASE_SECONDS']) {
      expect(supervisor.output).toContain(`${name} is `);
    }
    expect(supervisor.output).toContain('did you mean ORCH_HTTP_PORT?');
    expect(existsSync(fixture.dataDir)).toBe(false);
  });

  test('names each port in use with its service and setting', async () => {
    const last = loopbackAddresses.at(-1) ?? '';
    const hosts = ['127.0.0.1', last];
    const servers = fixture.ports.map((port, index) => createServer().listen(port, hosts[index]));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const supervisor = fixture.start();
    expect(await supervisor.end()).toBe(1);
    for (const server of servers) server.close();
    const [one, two] = fixture.ports;
    expect(supervisor.output.trim().split('\n')).toEqual([
      `Port ${one} on 127.0.0.1 for the first is already in use. Set ORCH_HTTP_PORT to another port.`,
      `Port ${two} on ${last} for the second is already in use. Set ORCH_RUNTIME_HEALTH_PORT to another port.`,
    ]);
  });

  test('restarts a database that is killed during startup', async () => {
    const supervisor = fixture.start();
    const state = join(fixture.dataDir, 'postgres/data/postmaster.pid');
    while (!textOf(state).includes('ready')) await pause(5);
    process.kill(only(supervisor.children('bin/postgres')), 'SIGKILL');
    await supervisor.says('Dashboard');
    expect(await health()).toEqual([200, 200]);
  });
});

describe('a later start', () => {
  beforeEach(() => fixture.takeDataOf(earlier));

  test('reports a service that fails to start, and stops everything', async () => {
    fixture.write('second', 'throw new Error("no disk");');
    const supervisor = fixture.start();
    expect(await supervisor.end()).toBe(1);
    expect(supervisor.output).toContain('second: process failed: no disk');
    expect(supervisor.output).toContain('The second did not start (exit code 1)');
    expect(existsSync(join(fixture.dataDir, 'postgres/data/postmaster.pid'))).toBe(false);
  });

  test('restarts a service that is killed during startup', async () => {
    const mark = join(fixture.folder, 'killed');
    const once = `const { existsSync, writeFileSync } = await import('node:fs');
      if (!existsSync('${mark}')) { writeFileSync('${mark}', ''); process.kill(process.pid, 'SIGKILL'); }`;
    fixture.write('second', once);
    const supervisor = fixture.start();
    await supervisor.says('Dashboard');
    expect(supervisor.output).toContain('The second exited during startup (SIGKILL)');
    expect(await health()).toEqual([200, 200]);
  });

  test('leaves no process behind when stopped during startup', async () => {
    fixture.write('second', 'await new Promise(() => undefined);');
    const supervisor = fixture.start();
    while (supervisor.children('--max-old-space-size').length < 2) await pause(10);
    const pids = everyChild(supervisor);
    supervisor.kill('SIGTERM');
    supervisor.kill('SIGINT');
    await supervisor.end();
    await untilGone(pids);
  });
});

describe('a running supervisor', () => {
  let supervisor: Supervisor;
  beforeEach(async () => {
    fixture.takeDataOf(earlier);
    supervisor = fixture.start();
    await supervisor.says('Dashboard');
  });

  test('restarts a killed service repeatedly', async () => {
    for (const round of [1, 2]) {
      process.kill(only(supervisor.children('second.ts')), 'SIGKILL');
      await supervisor.says('The second is running again', round);
      expect(await health()).toEqual([200, 200]);
    }
    expect(supervisor.output).toContain('Reported: the second exited (SIGKILL)');
    expect(supervisor.output).toContain('The second exited (SIGKILL); restarting it\n');
    expect(supervisor.output).toContain('The second exited (SIGKILL); restarting it in 1 s\n');
  });

  test('kills and restarts a service that no longer responds', async () => {
    process.kill(only(supervisor.children('second.ts')), 'SIGSTOP');
    await supervisor.says('Killing the second: it no longer responds');
    await supervisor.says('The second is running again');
    expect(await health()).toEqual([200, 200]);
  });

  test('starts an on-demand service once for several concurrent first connections', async () => {
    expect(supervisor.children('third.ts')).toEqual([]);
    const all = urls(fixture.onDemandPort);
    const answers = Array.from({ length: 6 }, (_, index) => fetch(all[index % all.length] ?? ''));
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([
      200, 200, 200, 200, 200, 200,
    ]);
    for (const url of all) expect((await fetch(url)).status).toBe(200);
    process.kill(only(supervisor.children('third.ts')), 'SIGKILL');
    await supervisor.says('The third is running again');
    expect((await fetch(onDemand())).status).toBe(200);
  });

  test('reports an on-demand service that does not start, and retries the start at the next connection', async () => {
    fixture.write('third', 'throw new Error("no luck");');
    await expect(fetch(onDemand())).rejects.toThrow();
    await supervisor.says('The third did not start (exit code 1)');
    fixture.write('third');
    expect((await fetch(onDemand())).status).toBe(200);
  });

  test('restarts a killed database', async () => {
    process.kill(only(supervisor.children('bin/postgres')), 'SIGKILL');
    await supervisor.says('The database is running again');
    expect(await health()).toEqual([200, 200]);
  });

  test('leaves no processes behind when it is killed, and can be started again', async () => {
    const pids = everyChild(supervisor);
    supervisor.kill('SIGKILL');
    await untilGone(pids);
    const next = fixture.start();
    await next.says('Dashboard');
    expect(await health()).toEqual([200, 200]);
  });

  test('waits at its next start for a slow service that a killed supervisor left behind', async () => {
    const go = join(fixture.folder, 'go');
    fixture.write(
      'second',
      `const { existsSync } = await import('node:fs');
       signal.addEventListener('abort', () => { while (!existsSync('${go}')); });`,
    );
    process.kill(only(supervisor.children('second.ts')), 'SIGKILL');
    await supervisor.says('The second is running again');
    const slow = only(supervisor.children('second.ts'));
    supervisor.kill('SIGKILL');
    const next = fixture.start();
    await next.says(`Waiting for processes of the previous start to exit`);
    expect(next.output).toContain(String(slow));
    writeFileSync(go, '');
    await next.says('Dashboard');
    expect(await health()).toEqual([200, 200]);
  });

  test('is named as the owner when a second supervisor starts in the same data folder', async () => {
    const other = fixture.start();
    expect(await other.end()).toBe(1);
    expect(other.output).toContain(`in use by process ${supervisor.pid}, started`);
    expect(await health()).toEqual([200, 200]);
  });

  test('is killed after the second interrupt', async () => {
    fixture.write(
      'second',
      'process.on("SIGTERM", () => undefined); signal.addEventListener("abort", () => { for (;;); });',
    );
    process.kill(only(supervisor.children('second.ts')), 'SIGKILL');
    await supervisor.says('The second is running again');
    const pids = everyChild(supervisor);
    supervisor.kill('SIGINT');
    await supervisor.says('press Ctrl-C again');
    supervisor.kill('SIGINT');
    expect(await supervisor.end()).toBe(0);
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });
});
