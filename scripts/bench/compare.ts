import { performance } from 'node:perf_hooks';
import { median, row } from './report.ts';

export interface Comparison {
  readonly figure: string;
  readonly bar: string;
  readonly unit: string;
  readonly rounds: number;
  readonly ours: () => Promise<number>;
  readonly theirs: () => Promise<number>;
}

/** Measures both sides in alternating order, and prints the median ratio. The first round is a warm-up. */
export async function compare(comparison: Comparison): Promise<void> {
  const { figure, bar, unit, rounds, ours, theirs } = comparison;
  const pairs: { readonly own: number; readonly other: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % 2 === 0 ? await theirs() : undefined;
    const own = await ours();
    pairs.push({ own, other: first ?? (await theirs()) });
  }
  const measured = pairs.slice(1);
  const ratio = median(measured.map(({ own, other }) => own / other));
  const own = shown(median(measured.map((one) => one.own)));
  const other = shown(median(measured.map((one) => one.other)));
  row(figure, `${ratio.toFixed(2)} (${own} / ${other} ${unit})`, bar);
}

/** Returns the rate per second at which `work` performs `count` operations. */
export async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (count * 1000) / (performance.now() - startedAt);
}

function shown(value: number): string {
  return value < 100 ? value.toPrecision(2) : Math.round(value).toString();
}
