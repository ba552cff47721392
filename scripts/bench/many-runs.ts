import { performance } from 'node:perf_hooks';
import { measureFigures } from './figures.ts';
import { measureLists } from './lists.ts';
import { makeLongHistory, wantedRuns } from './long-history.ts';
import { row } from './report.ts';

/** Measures queries over a long history: lists and the dashboard's statistics. */
export async function benchManyRuns(): Promise<void> {
  const startedAt = performance.now();
  const history = await makeLongHistory();
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  row(`a history of ${wantedRuns.toLocaleString('en')} runs was made`, `${seconds} s`, '–');
  try {
    await measureLists(history.url);
    await measureFigures(history.url);
  } finally {
    await history.remove();
  }
}
