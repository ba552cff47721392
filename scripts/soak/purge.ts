/** Purges a script under load, and checks that all its data is removed. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { until } from '#services/minimal/testing/product.ts';
import type { Edition } from './edition.ts';
import type { Operation } from './operations.ts';

/** Creates a script and runs it once. Its file and the run's log contain a mark. */
async function makeRun(edition: Edition): Promise<{ script: string; run: string; mark: string }> {
  const mark = randomUUID();
  const name = `Removed ${mark}`;
  const { id: script } = await edition.requestReliably<{ id: string }>(
    'POST',
    '/scripts',
    { name },
    mark,
  );
  const file = { content: `print("${mark}")\n`, encoding: 'utf-8' };
  await edition.requestReliably('PUT', `/scripts/${script}/files/main.py`, file);
  const { run_id: run } = await edition.requestReliably<{ run_id: string }>(
    'POST',
    `/runs/scripts/${script}/run`,
    {},
    randomUUID(),
  );
  await until('the run to be removed has ended', async () => {
    const { status } = await edition.requestReliably<{ status: string }>('GET', `/runs/${run}`);
    return ['queued', 'running'].includes(status) ? undefined : true;
  });
  return { script, run, mark };
}

const marks = new Map<string, string>();

/** Purges the deleted script, and checks that no stored object contains the mark. */
export const purge: Operation = {
  name: 'purge',
  async begin(edition) {
    const { script, mark } = await makeRun(edition);
    marks.set(script, mark);
    await edition.requestTextReliably('DELETE', `/scripts/${script}`);
    await edition.requestReliably('POST', `/scripts/${script}/purge`, undefined, randomUUID());
    return script;
  },
  stepOf: async () => await Promise.resolve('started'),
  async conclude(edition, script, journal) {
    await until('the purge has finished', async () => {
      const { state } = await edition.requestReliably<{ state: string }>(
        'POST',
        `/scripts/${script}/purge`,
        undefined,
        randomUUID(),
      );
      return state === 'finished' || undefined;
    });
    const left = filesWith(marks.get(script) ?? '', join(edition.dataDir, 'objects'));
    const outcome = left.length === 0 ? 'removed' : `left: ${left.join(' ')}`;
    journal.note({
      what: 'concluded',
      operation: 'purge',
      id: script,
      outcome,
      expected: ['removed'],
    });
  },
};

function filesWith(mark: string, folder: string): readonly string[] {
  try {
    const found = execFileSync('grep', ['-rl', mark, folder], { encoding: 'utf8' });
    return found.split('\n').filter(Boolean);
  } catch {
    return []; // exit code of grep: no match
  }
}
