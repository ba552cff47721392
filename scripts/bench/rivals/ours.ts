import { Product } from '#services/minimal/testing/product.ts';
import { startRuns } from '../start-modes.ts';
import { measureRuns, startTimeoutMs, type Rival } from './rival.ts';

const rounds = { sequential: 20, concurrent: 60 };

/** This service with its default settings. The script's interpreter is warm. */
export const ours: Rival = {
  name: 'this service',
  async start(dataDir) {
    const product = await Product.start({ dataDir, timeoutMs: startTimeoutMs });
    const source = 'import time\nprint(time.time())\n';
    const scriptId = await product.script('rivals', { 'main.py': source });
    await product.call('PATCH', `/scripts/${scriptId}`, { max_concurrent_runs: 1000 });
    await startRuns(product, scriptId, 'warm');
    const path = `/runs/scripts/${scriptId}/run`;
    const client = {
      async run() {
        const answer = await product.fetch('POST', path, {}, { prefer: 'wait=60' });
        const run = (await answer.json()) as { run_id: string; status: string };
        if (run.status !== 'success') throw new Error(`a run ended as ${run.status}`);
        return run.run_id;
      },
      async firstLineAt(runId: string) {
        const lines = await product.log(runId);
        return Number(lines.find(({ stream }) => stream === 'stdout')?.text) * 1000;
      },
    };
    return {
      measure: () => measureRuns(client, rounds),
      async stop() {
        await product.stop();
      },
    };
  },
};
