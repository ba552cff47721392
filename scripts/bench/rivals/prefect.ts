import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '#infra/testing/free-ports.ts';
import { until } from '#services/minimal/testing/product.ts';
import { timesIn } from './files.ts';
import { here, pythonPackages } from './python-packages.ts';
import { measureRuns, Service, startTimeoutMs, type Rival } from './rival.ts';

const rounds = { sequential: 3, concurrent: 8 };
const pollMs = 20;

/** Prefect's server with SQLite, and a served flow. The flow's runner polls for runs as often as Prefect's settings
 *  permit. */
export const prefect: Rival = {
  name: 'Prefect',
  async start(folder) {
    const programs = pythonPackages();
    const [port = 0] = await freePorts(1);
    const api = `http://127.0.0.1:${port}/api`;
    const env = {
      ...process.env,
      PATH: `${programs}:${process.env['PATH'] ?? ''}`,
      PREFECT_HOME: folder,
      PREFECT_API_URL: api,
      PREFECT_RUNNER_POLL_FREQUENCY: '1',
      PREFECT_SERVER_ANALYTICS_ENABLED: 'false',
      PREFECT_LOGGING_LEVEL: 'WARNING',
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const lines = join(folder, 'lines');
    const server = new Service(
      join(programs, 'prefect'),
      ['server', 'start', '--port', String(port)],
      { env },
    );
    const call = async <Answer>(path: string, body?: object): Promise<Answer> => {
      const request = {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      };
      // Retries once, because the server closes idle connections.
      const answer = await fetch(api + path, request).catch(() => fetch(api + path, request));
      // The server refuses requests with status 503 while its database is locked.
      if (answer.status === 503) {
        await pause(pollMs);
        return call(path, body);
      }
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Answer;
    };
    const found = <Answer>(path: string) => call<Answer>(path).catch(() => undefined);
    await until('Prefect responds', () => found<object>('/health'), startTimeoutMs);
    const flow = new Service(join(programs, 'python'), ['flow.py', lines], { env, cwd: here });
    const findFlow = () => found<{ id: string }>('/deployments/name/job/bench');
    const { id } = await until('the flow is served', findFlow, startTimeoutMs);
    const client = {
      async run() {
        const { id: runId } = await call<{ id: string }>(`/deployments/${id}/create_flow_run`, {});
        for (;;) {
          const { state } = await call<{ state: { type: string } }>(`/flow_runs/${runId}`);
          if (state.type === 'COMPLETED') return;
          if (['FAILED', 'CRASHED', 'CANCELLED'].includes(state.type)) {
            throw new Error('a Prefect run failed');
          }
          await pause(pollMs);
        }
      },
      firstLineAt: async () => (await timesIn(lines)).at(-1) ?? NaN,
    };
    await client.run();
    return {
      measure: () => measureRuns(client, rounds),
      async stop() {
        for (const each of [flow, server]) await each.stop();
      },
    };
  },
};
