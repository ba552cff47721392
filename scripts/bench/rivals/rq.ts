import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePorts } from '#infra/testing/free-ports.ts';
import { here, pythonPackages } from './python-packages.ts';
import { measureRuns, NotAvailable, Service, type Rival } from './rival.ts';

const rounds = { sequential: 20, concurrent: 60 };
const workers = 2;

/** RQ with a Redis server that writes its data to disk every second. A worker forks for each job. */
export const rq: Rival = {
  name: `RQ with Redis, ${workers} workers`,
  async start(folder) {
    if (spawnSync('redis-server', ['--version']).error !== undefined) {
      throw new NotAvailable('requires the Debian package redis-server');
    }
    const programs = pythonPackages();
    const [port = 0] = await freePorts(1);
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
    const redis = new Service('redis-server', [...options, '--appendonly', 'yes']);
    const started = Array.from(
      { length: workers },
      () =>
        new Service(join(programs, 'rq'), ['worker', '--url', `redis://127.0.0.1:${port}`], {
          cwd: here,
          env: { ...process.env, PYTHONPATH: here, PYTHONDONTWRITEBYTECODE: '1' },
        }),
    );
    const client = new Service(join(programs, 'python'), ['rq_client.py', String(port)], {
      cwd: here,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const { stdin, stdout } = client.child;
    if (stdin === null || stdout === null)
      throw new Error('the RQ client has no standard input or output');
    const waiting = new Map<string, PromiseWithResolvers<number>>();
    createInterface({ input: stdout })
      .on('line', (line) => {
        const [number = '', seconds] = line.split(' ');
        waiting.get(number)?.resolve(Number(seconds) * 1000);
        waiting.delete(number);
      })
      .on('close', () => {
        for (const { reject } of waiting.values()) reject(new Error('the RQ client exited'));
      });
    let runs = 0;
    const run = () => {
      const number = String((runs += 1));
      const result = Promise.withResolvers<number>();
      waiting.set(number, result);
      stdin.write(`${number}\n`);
      return result.promise;
    };
    await run();
    return {
      measure: () => measureRuns({ run, firstLineAt: (at) => at }, rounds),
      async stop() {
        for (const each of [client, ...started, redis]) await each.stop();
      },
    };
  },
};
