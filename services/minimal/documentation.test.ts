/** Runs all commands in README.md and docs/ against the product, page by page. Every command must succeed. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { popped } from '#services/redis/testing/jobs.ts';
import { RawClient } from '#services/redis/testing/raw-client.ts';
import { reachIndex } from '#services/runtime/environments/testing/reach-index.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { pages, programsOf, runPage, type PageContext } from './testing/documents.ts';
import { Product, productPassword } from './testing/product.ts';

// Long enough to install packages and create databases.
const timeoutMs = 120_000;

let product: Product;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'orch-documents-'));
  product = await Product.start();
});
afterAll(async () => {
  await product.stop();
  await product.remove();
  await rm(home, { recursive: true });
});

const script = (name: string, source = 'print("done")\n') =>
  product.script(name, { 'main.py': source });

/** What a page requires: environment variables, and replacements in its commands. */
type Given = () => Promise<Partial<Pick<PageContext, 'variables' | 'instead'>>>;

// Without a terminal, there is no password prompt.
const signIn = [
  '--email admin@example.com',
  '--email admin@example.com --password-stdin <<< "$PASSWORD"',
] as const;

const given: Readonly<Record<string, Given>> = {
  'docs/cli.md': () =>
    Promise.resolve({
      instead: [
        signIn,
        ['https://orchestrator.example.com', product.baseUrl],
        ['orch_…', '$ORCHESTRATOR_TOKEN'],
      ],
    }),
  // Only root may create folders in /run.
  'docs/secret-stores.md': () =>
    Promise.resolve({ instead: [['/run/orchestrator-secrets', join(home, 'mounted')]] }),
  'docs/placement.md': async () => {
    const { items } = await product.call<{ items: { id: string }[] }>('GET', '/runtimes');
    return {
      variables: { SCRIPT: await script('Labelled') },
      instead: [['runtime-1', items[0]?.id ?? '']],
    };
  },
  'docs/guide.md': async () => {
    const { run_id: run } = await product.run(await script('Failing', 'raise SystemExit(1)\n'));
    await product.untilFinished(run);
    return {
      instead: [
        signIn,
        // This command exits with 1 if there are differences.
        ['orchestrator sync diff', '! orchestrator sync diff'],
        ['-n 20 RUN', `-n 20 ${run}`],
      ],
    };
  },
};

/** Runs a page's commands against the server `at`. */
async function follow(page: string, at = product, facts: Partial<PageContext> = {}) {
  const own = { ...(await given[page]?.()), ...facts };
  const folder = await mkdtemp(join(home, 'reader-'));
  // This folder contains the database of a new installation, so the PostgreSQL user must be able to enter it.
  for (const path of [home, folder]) await chmod(path, 0o755);
  return await runPage(page, {
    folder,
    variables: {
      PASSWORD: productPassword,
      ORCHESTRATOR_URL: at.baseUrl,
      ORCHESTRATOR_TOKEN: at.authorization.authorization.replace('Bearer ', ''),
      ORCH_DATA_DIR: join(folder, 'data'),
      PIP_TARGET: join(folder, 'packages'),
      ...own.variables,
    },
    instead: [
      [/http:\/\/(127\.0\.0\.1|localhost):8080/g, at.baseUrl],
      ['http://127.0.0.1:9093/metrics', at.metricsUrl],
      [/(\$PWD\/)?\.orchestrator\/secrets/g, join(at.dataDir, 'secrets')],
      ['https://example.com/hook', 'https://hook.invalid/'],
      ...(own.instead ?? []),
    ],
  });
}

// These pages contain update commands, which need a release repository. Other tests cover them.
const elsewhere = ['README.md', 'docs/queue.md', 'docs/updates.md'];

describe('the commands in the documentation succeed', () => {
  for (const page of pages.filter((each) => !elsewhere.includes(each))) {
    describeWith(programsOf(page), page, () => {
      test(
        'from top to bottom',
        async () => {
          const { code, said } = await follow(page);
          expect(code, said).toBe(0);
        },
        timeoutMs,
      );
    });
  }
});

describeWith(programsOf('docs/queue.md'), 'the commands in docs/queue.md', () => {
  test(
    'succeed for a worker that has claimed a run',
    async () => {
      const [port = 0] = await freePorts(1);
      const own = await Product.start({
        variables: { ORCH_REDIS_PORT: String(port), ORCH_RUNTIME_SLOTS: '0' },
      });
      onTestFinished(async () => {
        await own.stop();
        await own.remove();
      });
      await own.run(await own.script('Held', { 'main.py': '' }));
      const client = await RawClient.open(port);
      const password = join(own.dataDir, 'secrets', 'ORCH_REDIS_PASSWORD');
      await client.call('AUTH', (await readFile(password, 'utf8')).trim());
      const { run_id: runId } = await popped(client);
      client.socket.destroy();

      const variables = { RUN: runId, REDIS_PORT: String(port) };
      const { code, said } = await follow('docs/queue.md', own, { variables });
      expect(code, said).toBe(0);
      expect(said).toMatch(/^hello$/m);
      expect((await own.runState(runId)).status).toBe('success');
    },
    timeoutMs,
  );
});

describeWith({ service: 'package index', ...(await reachIndex()) }, 'the first run', () => {
  test(
    'the example in README.md runs with its packages',
    async () => {
      const { code, said } = await follow('README.md');
      expect(code, said).toBe(0);
      expect(said).toMatch(/^\d+ stdout │ 5 │ 25 {5}│$/m);
      expect(said).toMatch(/^ended: success$/m);
    },
    timeoutMs,
  );
});
