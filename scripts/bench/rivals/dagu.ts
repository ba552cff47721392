import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePorts } from '#infra/testing/free-ports.ts';
import { until } from '#services/minimal/testing/product.ts';
import { interpreter } from '../bare-python.ts';
import { appending, timesIn } from './files.ts';
import { peerProgram } from '../peers.ts';
import { measureRuns, Service, startTimeoutMs, type Rival } from './rival.ts';

const rounds = { sequential: 10, concurrent: 24 };
const pollMs = 10;
/** The states of unfinished runs: not started, running, queued. */
const queued = 5;
const unfinished = [0, 1, queued];
const succeeded = 4;

interface DagRun {
  readonly dagRunDetails: { readonly status: number };
}

/** Dagu's server and scheduler, from its npm package. `ORCH_BENCH_DAGU` sets the path of another version. */
export const dagu: Rival = {
  name: 'Dagu',
  async start(folder) {
    const program =
      process.env['ORCH_BENCH_DAGU'] ?? peerProgram('@dagu-org/dagu-linux-x64/bin/dagu');
    const [port = 0, coordinator = 0, schedulerPort = 0] = await freePorts(3);
    const [script, lines] = [join(folder, 'main.py'), join(folder, 'lines')];
    await writeFile(script, appending(lines));
    await mkdir(join(folder, 'dags'));
    const dag = `steps:\n  - name: main\n    command: ${interpreter} ${script}\n`;
    // Each run of a round uses a separate DAG. A run fails if the previous run of its DAG has not closed its socket
    // yet.
    const names = Array.from(
      { length: rounds.sequential + rounds.concurrent },
      (_, number) => `bench-${number}`,
    );
    for (const name of names) await writeFile(join(folder, 'dags', `${name}.yaml`), dag);
    const service = new Service(program, ['start-all', '--port', String(port)], {
      env: {
        ...process.env,
        DAGU_HOME: folder,
        DAGU_AUTH_MODE: 'none',
        DAGU_COORDINATOR_PORT: String(coordinator),
        DAGU_SCHEDULER_PORT: String(schedulerPort),
      },
    });
    const call = async <Answer>(path: string, options: RequestInit = {}) => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v2${path}`, {
        headers: { 'content-type': 'application/json' },
        ...options,
      });
      // Dagu may accept a run before its API can return the run.
      if (answer.status === 404) return undefined;
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Answer;
    };
    try {
      const ask = () => call<object>('/dags').catch(() => undefined);
      await until('Dagu responds', ask, startTimeoutMs);
    } catch (error) {
      await service.stop();
      throw error;
    }
    let runs = 0;
    const client = {
      async run(): Promise<void> {
        const name = names[(runs += 1) % names.length] ?? '';
        const started = await call<{ dagRunId: string }>(`/dags/${name}/start`, {
          method: 'POST',
          body: '{}',
        });
        if (started === undefined) throw new Error(`Dagu has no DAG named ${name}`);
        const path = `/dag-runs/${name}/${started.dagRunId}`;
        for (;;) {
          const status = (await call<DagRun>(path))?.dagRunDetails.status ?? queued;
          if (status === succeeded) return;
          if (!unfinished.includes(status)) return await client.run();
          await pause(pollMs);
        }
      },
      firstLineAt: async () => (await timesIn(lines)).at(-1) ?? NaN,
    };
    return { measure: () => measureRuns(client, rounds), stop: () => service.stop() };
  },
};
