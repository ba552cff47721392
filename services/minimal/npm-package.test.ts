/** Tests that the package from `npm pack` starts the service without a build step. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '#infra/testing/free-ports.ts';
import { version } from '#services/shared/version.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { until } from './testing/product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const name = 'script-orchestration-service';

describe('the installed npm package', () => {
  let folder: string;
  let program: string;
  let environment: NodeJS.ProcessEnv;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'npm-package-'));
    const packJson = ['pack', root, '--ignore-scripts', '--silent', '--pack-destination', folder];
    execFileSync('npm', packJson, { cwd: folder });
    // Simulates an npm installation with this repository's packages.
    const modules = join(folder, 'node_modules');
    const own = join(modules, name);
    mkdirSync(own, { recursive: true });
    const archive = join(folder, `${name}-${version}.tgz`);
    execFileSync('tar', ['-xf', archive, '-C', own, '--strip-components=1']);
    for (const each of readdirSync(join(root, 'node_modules'))) {
      if (each !== '.bin') symlinkSync(join(root, 'node_modules', each), join(modules, each));
    }
    program = join(own, 'services/cli/orchestrator');
    environment = {
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: folder,
      ORCH_DATA_DIR: join(folder, 'data'),
    };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('prints its version, and reuses its installed copy', () => {
    const said = () =>
      spawnSync(program, ['--version'], { env: environment, encoding: 'utf8' }).stdout;
    expect([said(), said()]).toEqual([`${version}\n`, `${version}\n`]);
    expect(readdirSync(join(folder, '.cache/orchestrator/npm'))).toHaveLength(1);
  });

  test('starts and stops the service with its dashboard', async () => {
    const ports = await freePorts(7);
    const named = ['HTTP', 'MCP', 'REDIS', 'RUNTIME_METRICS'].map((each) => `${each}_PORT`);
    const health = ['RUNTIME', 'SCHEDULER', 'REDIS'].map((each) => `${each}_HEALTH_PORT`);
    const settings = [...named, ...health].map((each, index) => [
      `ORCH_${each}`,
      String(ports[index]),
    ]);
    const started = spawn(program, ['start'], {
      env: { ...environment, ...Object.fromEntries(settings) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(started, 'exit');
    onTestFinished(async () => {
      started.kill('SIGINT');
      await ended;
    });
    const url = `http://127.0.0.1:${ports[0]}`;
    const ask = async (path: string) => {
      if (started.exitCode !== null) throw new Error('the service exited during startup');
      const answer = await fetch(url + path).catch(() => undefined);
      return answer?.ok === true ? await answer.text() : undefined;
    };
    await until('the service is healthy', () => ask('/health'));
    expect(await ask('/')).toContain('_app/immutable');
    started.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });
});
