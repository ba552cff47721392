import { Product } from '#services/minimal/testing/product.ts';
import { clients, postsPerSecond, withEcho } from './posts.ts';
import { median, row } from './report.ts';

const rounds = 5;

/** Measures how many run requests per second 64 clients can send. Compares the rate with an echo through the same HTTP
 *  code and with an echo through the plain library. No runtime executes the runs, because only their admission is
 *  measured. */
export async function benchRequests(): Promise<void> {
  const product = await Product.start({ variables: { ORCH_RUNTIME_SLOTS: '0' } });
  try {
    const scripts = await busyScripts(product);
    const runs = (client: number) =>
      `${product.baseUrl}/api/v1/runs/scripts/${scripts[client]}/run`;
    await withEcho(async (origin) => {
      const rates = { ours: [] as number[], same: [] as number[], bare: [] as number[] };
      for (let round = 0; round < rounds; round += 1) {
        rates.same.push(await postsPerSecond(() => `${origin}/api/v1/echo`, {}));
        rates.ours.push(await postsPerSecond(runs, product.authorization));
        rates.bare.push(await postsPerSecond(() => `${origin}/bare`, {}));
        await stopAll(product, scripts);
      }
      // The first round is a warm-up.
      for (const [name, bar, echoed] of [
        ['an echo POST on the same server', '≥ 0.7', rates.same],
        ['an echo POST of the bare library', '–', rates.bare],
      ] as const) {
        const ratio = median(rates.ours.map((rate, round) => rate / (echoed[round] ?? 1)).slice(1));
        row(
          `POST run per second, ${clients} clients / ${name}`,
          `${ratio.toFixed(2)} (${median(rates.ours).toFixed(0)}/s / ${median(echoed).toFixed(0)}/s)`,
          bar,
        );
      }
    });
  } finally {
    await product.stop();
    await product.remove();
  }
}

/** Creates a script for each client, with a limit of a thousand concurrent runs.
 *  @returns the scripts' IDs */
export function busyScripts(product: Product): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const id = await product.script(`client ${index}`, {});
      await product.call('PATCH', `/scripts/${id}`, { max_concurrent_runs: 1000 });
      return id;
    }),
  );
}

/** Stops all runs, because each admission counts the waiting runs. */
export async function stopAll(product: Product, scripts: readonly string[]): Promise<void> {
  for (const id of scripts) await product.call('POST', `/runs/scripts/${id}/stop`);
}
