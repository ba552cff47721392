/** Requests runs of every kind from several backends concurrently. The scripts themselves record their executions. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fleet } from './fleet.ts';

/** The script for all runs. It records its executions outside the platform. */
const source = `
import os, time
run, attempt = os.environ["ORCH_RUN_ID"], int(os.environ["ORCH_ATTEMPT"])
notes = os.open("data/notes", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
note = lambda what: os.write(notes, f"{run} {attempt} {os.getpid()} {what}\\n".encode())
note("start")
time.sleep(0.02)
if os.environ.get("FLAKY") and attempt == 1:
    note("end")
    raise SystemExit(1)
print("done")
note("end")
`;

/** The maximum number of attempts for scripts with retries. */
export const maxAttempts = 3;

export interface Note {
  readonly runId: string;
  readonly what: 'start' | 'end';
}

export interface LoadScripts {
  readonly plain: string;
  readonly flaky: string;
  readonly limited: string;
  /** A script that each run of `limited` triggers. */
  readonly chained: string;
  readonly hook: string;
  readonly token: string;
  readonly schedules: readonly string[];
}

/** Creates the scripts and their triggers. */
export async function prepareLoad(fleet: Fleet): Promise<LoadScripts> {
  const script = async (name: string, settings: object) => {
    const { id } = await fleet.call<{ id: string }>('POST', '/scripts', { name, ...settings });
    await fleet.call('PUT', `/scripts/${id}/files/main.py`, { content: source, encoding: 'utf-8' });
    return id;
  };
  const busy = { max_concurrent_runs: 1000 };
  const retry = { max_attempts: maxAttempts, backoff_seconds: 0.1 };
  const plain = await script('plain', { ...busy, retry });
  const flaky = await script('flaky', { ...busy, retry, environment: { FLAKY: 'yes' } });
  const limited = await script('limited', { max_concurrent_runs: 3 });
  const chained = await script('chained', busy);
  await fleet.call('POST', '/chains', {
    source_script_id: limited,
    target_script_id: chained,
    on: 'any',
  });
  const { url } = await fleet.call<{ url: string }>('POST', '/webhooks', {
    script_id: plain,
    name: 'hook',
    rate_limit_per_minute: 6000,
  });
  const { token } = await fleet.call<{ token: string }>('POST', '/auth/tokens', {
    name: 'load',
    scopes: ['runs:write', 'runs:read'],
  });
  const schedules = await Promise.all(
    [1, 2].map(async (seconds) => {
      const { id } = await fleet.call<{ id: string }>('POST', '/schedules', {
        script_id: plain,
        kind: 'interval',
        interval_seconds: seconds,
        catch_up: 'all',
        overlap: 'queue',
      });
      return id;
    }),
  );
  return {
    plain,
    flaky,
    limited,
    chained,
    hook: new URL(url, 'http://x').pathname,
    token,
    schedules,
  };
}

/** Requests a run of the next kind. @returns its ID */
export async function askForRun(
  fleet: Fleet,
  scripts: LoadScripts,
  number: number,
  earlier: readonly string[],
): Promise<string> {
  const run = (scriptId: string) => `/runs/scripts/${scriptId}/run`;
  const ask = async (path: string, body: object, headers = {}) =>
    (await fleet.requestReliably<{ run_id: string }>(path, body, `load-${number}`, headers)).run_id;
  const again = earlier[(number * 7) % earlier.length];
  switch (number % 6) {
    case 0:
      return await ask(run(scripts.flaky), {});
    case 1:
      return await ask(run(scripts.limited), { when_busy: 'queue' });
    case 2:
      return await ask(scripts.hook, { number });
    case 3:
      return await ask(
        run(scripts.plain),
        { params: { number } },
        { authorization: `Bearer ${scripts.token}` },
      );
    case 4:
      if (again !== undefined)
        return await ask(`/runs/${again}/rerun`, { version: 'latest', when_busy: 'queue' });
  }
  return await ask(run(scripts.plain), {});
}

/** Reads the records that the scripts wrote, on all runtimes. */
export async function readNotes(fleet: Fleet): Promise<readonly Note[]> {
  const texts = await Promise.all(
    fleet.of('runtime').map(async ({ name }) => {
      const folder = join(fleet.folder, name, 'data');
      const scripts = await readdir(folder).catch(() => []);
      return Promise.all(
        scripts.map((script) => readFile(join(folder, script, 'notes'), 'utf8').catch(() => '')),
      );
    }),
  );
  return texts.flat().flatMap((text) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [runId = '', , , what] = line.split(' ');
        return { runId, what: what as Note['what'] };
      }),
  );
}
