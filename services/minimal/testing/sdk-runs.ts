/** Creates and runs scripts that use the `orchestrator` package. */
import type { Product, RunAnswer } from './product.ts';

export interface ShownRun extends RunAnswer {
  readonly output: unknown;
  readonly progress: { readonly fraction: number; readonly text: string } | null;
}

export interface EndedRun extends ShownRun {
  /** The texts of the run's log lines. */
  readonly texts: readonly string[];
}

export const prelude = `from orchestrator import *
platform = Platform()
`;

export class SdkRuns {
  readonly #product: Product;

  constructor(product: Product) {
    this.#product = product;
  }

  /** Creates a script with these lines. @returns its ID */
  async scriptOf(code: string, settings: object = {}): Promise<string> {
    return await this.#product.script('SDK', { 'main.py': `${prelude}${code}\n` }, settings);
  }

  /** Runs a script and waits for the run to finish.
   *  @throws with the run's log if it fails */
  async runOf(scriptId: string, body: object = {}): Promise<EndedRun> {
    const { run_id: runId } = await this.#product.run(scriptId, body);
    return await this.ended(runId);
  }

  /** Waits for a run to finish.
   *  @throws with the run's log if it fails */
  async ended(runId: string): Promise<EndedRun> {
    const { status } = await this.#product.untilFinished(runId);
    const texts = (await this.#product.log(runId)).map(({ text }) => text);
    if (status !== 'success') throw new Error(texts.join('\n'));
    return { ...((await this.#product.runState(runId)) as ShownRun), texts };
  }
}
