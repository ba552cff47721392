/** Commands that start and show runs. */
import { headlineOf } from '#domain/run/error/error.ts';
import { part } from '#services/shared/api-client.ts';
import { findScript, listOf, type LogItem, type RunAnswer, type ScriptAnswer } from '../answers.ts';
import { shortened } from '../api/answer.ts';
import type { Command, Option, Use } from '../command.ts';
import { exitCodes, usageProblem } from '../problem.ts';
import { plain, printTable } from '../table.ts';
import { followToEnd, showItem } from './follow.ts';
import { parametersOf } from './parameters.ts';

const defaultCount = 20;
const statuses = ['queued', 'running', 'success', 'failed', 'stopped'];

const follow: Option = { short: 'f', help: 'show the log until the run ends' };
const limit: Option = { value: 'N', help: `maximum number of items (default ${defaultCount})` };

export const run: Command = {
  name: 'run',
  arguments: 'SCRIPT',
  summary: 'run a script',
  details:
    'SCRIPT is an ID or a unique name. Prints the ID of the run. With --follow, prints the log and exits ' +
    'with the exit code of the script; 124 if the run exceeded its time limit, 128 plus the signal ' +
    'number if it was killed, and 1 for any other failure. Ctrl-C stops following; the run continues.',
  options: {
    param: {
      value: 'NAME=VALUE',
      short: 'p',
      multiple: true,
      help: 'a parameter; may be repeated',
    },
    params: { value: 'JSON', help: 'all parameters as one JSON object, or - for standard input' },
    follow,
    timeout: { value: 'SECONDS', help: 'time limit of the run' },
    queue: { help: 'wait for a free slot if the script is busy, instead of failing' },
  },
  examples: [
    ['run "Nightly report" --follow', 'run it and follow its log'],
    ['run etl -p day=2026-11-21 -p dry_run=true -f', 'with parameters'],
    ['run etl --params - < params.json', 'with parameters from a file'],
  ],
  run: async (use) => {
    const { options, terminal } = use;
    const [named] = expectArgs(use, 1, 'SCRIPT');
    const session = await use.session();
    const script = await findScript(session.api, named);
    const path = `/runs/scripts/${part(script.id)}/run`;
    const call = { body: await bodyOf(use, script), idempotent: true };
    const { body: started } = await session.api.call<RunAnswer>('POST', path, call);
    if (options.has('follow')) {
      terminal.problem(`Run ${started.run_id} of ${plain(script.name)}`);
      return await followToEnd(started.run_id, session, use);
    }
    terminal.line(options.json ? JSON.stringify(started) : started.run_id);
    return exitCodes.done;
  },
};

async function bodyOf({ options, input }: Use, script: ScriptAnswer): Promise<object> {
  const given = options.text('params');
  const params = parametersOf(
    given === '-' ? await input() : given,
    options.texts('param'),
    script.parameters_schema?.properties ?? {},
  );
  const seconds = options.text('timeout');
  return {
    ...(params !== undefined && { params }),
    ...(seconds !== undefined && { timeout_seconds: numberOf('timeout', seconds) }),
    ...(options.has('queue') && { when_busy: 'queue' }),
  };
}

export const logs: Command = {
  name: 'logs',
  arguments: 'RUN',
  summary: 'show the log of a run',
  options: {
    follow,
    tail: { value: 'N', short: 'n', help: 'only the last lines' },
    stream: { value: 'NAME', help: 'only one stream', choices: ['stdout', 'stderr', 'system'] },
    level: {
      value: 'LEVEL',
      help: 'only lines of this level or above',
      choices: ['debug', 'info', 'warning', 'error', 'critical'],
    },
  },
  examples: [
    ['logs -f 019aa3f4-01aa-7c11-8d22-5e6f70819203', 'follow it'],
    ['logs 019aa3f4-01aa-7c11-8d22-5e6f70819203 -o json | jq .text', 'each line as JSON'],
    ['logs 019aa3f4-01aa-7c11-8d22-5e6f70819203 --level warning', 'warnings and errors'],
  ],
  run: async (use) => {
    const { options, terminal } = use;
    const [runId] = expectArgs(use, 1, 'RUN');
    const session = await use.session();
    const path = `/runs/${part(runId)}`;
    const tail = options.text('tail');
    const filter = { stream: options.text('stream'), level: options.text('level') };
    if (options.has('follow')) {
      if (filter.stream !== undefined || filter.level !== undefined) {
        throw usageProblem('--follow shows every line. Remove --stream and --level.');
      }
      const { body } = await session.api.call<{ log_lines: number }>('GET', path);
      const from =
        tail === undefined ? 1 : Math.max(1, body.log_lines + 1 - numberOf('tail', tail));
      return await followToEnd(runId, session, use, from);
    }
    if (tail !== undefined) {
      const query = { tail: numberOf('tail', tail), ...filter };
      const { body } = await session.api.call<{ items: LogItem[] }>('GET', `${path}/logs`, {
        query,
      });
      for (const item of body.items) showItem(item, terminal, options.json);
      return exitCodes.done;
    }
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { body }: { body: { items: LogItem[]; next_cursor: string | null } } =
        await session.api.call('GET', `${path}/logs`, { query: { limit: 200, cursor, ...filter } });
      for (const item of body.items) showItem(item, terminal, options.json);
      await terminal.drained();
      cursor = body.next_cursor;
    }
    return exitCodes.done;
  },
};

export const runs: Command = {
  name: 'runs',
  arguments: '[SCRIPT]',
  summary: 'list runs, newest first',
  options: {
    status: {
      value: 'STATUS',
      help: 'such as failed; separate multiple values with commas',
      choices: statuses,
    },
    limit,
  },
  examples: [
    ['runs', 'of all scripts'],
    ['runs "Nightly report" --status failed', 'failed runs of a script'],
  ],
  run: async (use) => {
    const { args, options, terminal } = use;
    if (args.length > 1)
      throw usageProblem('Expected at most one SCRIPT. See: orchestrator runs --help');
    const { api } = await use.session();
    const [named] = args;
    const script = named === undefined ? undefined : await findScript(api, named);
    const query = { script_id: script?.id, status: options.text('status') };
    const found = await listOf<RunAnswer>(api, '/runs', query, countOf(use));
    if (options.json) terminal.line(JSON.stringify(found));
    printTable(
      options.json ? [] : found,
      [
        { title: 'run', text: (row) => row.run_id },
        { title: 'script', text: (row) => row.script_name },
        { title: 'status', text: (row) => row.failure_reason ?? row.status },
        { title: 'trigger', text: (row) => row.trigger_type },
        { title: 'queued', text: (row) => row.queued_at },
        {
          title: 'duration',
          text: ({ duration_ms: ms }) => (ms === null ? '' : `${(ms / 1000).toFixed(1)} s`),
        },
        { title: 'error', text: ({ error }) => shortened((error && headlineOf(error)) ?? '') },
      ],
      terminal,
    );
    return exitCodes.done;
  },
};

export const scripts: Command = {
  name: 'scripts',
  arguments: '[TEXT]',
  summary: 'list scripts, optionally filtered by name or description',
  options: { limit },
  examples: [
    ['scripts', 'list all'],
    ['scripts report -o json | jq -r ".[].id"', 'ids for a program'],
  ],
  run: async (use) => {
    const { args, options, terminal } = use;
    if (args.length > 1)
      throw usageProblem('Expected at most one TEXT. See: orchestrator scripts --help');
    const { api } = await use.session();
    const found = await listOf<ScriptAnswer>(api, '/scripts', { q: args[0] }, countOf(use));
    if (options.json) terminal.line(JSON.stringify(found));
    printTable(
      options.json ? [] : found,
      [
        { title: 'id', text: (row) => row.id },
        { title: 'name', text: (row) => row.name },
        { title: 'group', text: (row) => row.group },
        { title: 'enabled', text: (row) => (row.enabled ? 'yes' : 'no') },
        {
          title: 'last run',
          text: ({ last_run: last }) =>
            last === null ? '' : `${last.status} ${last.finished_at ?? ''}`,
        },
      ],
      terminal,
    );
    return exitCodes.done;
  },
};

export const newScript: Command = {
  name: 'new',
  arguments: 'NAME',
  summary: 'create a script; prints its ID',
  options: {
    template: {
      value: 'NAME',
      help: 'start from a template',
      choices: ['http-monitor', 'chat-bot', 'etl-job', 'resident-handler'],
    },
  },
  examples: [
    ['new Weather', 'with a sample main.py'],
    ['new "Nightly import" --template etl-job', 'from a template'],
  ],
  run: async (use) => {
    const { options, terminal } = use;
    const [name] = expectArgs(use, 1, 'NAME');
    const { api } = await use.session();
    const template = options.text('template');
    const { body } = await api.call<ScriptAnswer>('POST', '/scripts', {
      body: { name, ...(template !== undefined && { template }) },
      idempotent: true,
    });
    terminal.line(options.json ? JSON.stringify(body) : body.id);
    return exitCodes.done;
  },
};

export const stop: Command = {
  name: 'stop',
  arguments: 'RUN',
  summary: 'stop a run: SIGTERM, then SIGKILL after ten seconds',
  examples: [['stop 019aa3f4-01aa-7c11-8d22-5e6f70819203', 'stop a run']],
  run: async (use) => {
    const [runId] = expectArgs(use, 1, 'RUN');
    const { api } = await use.session();
    const { body } = await api.call<{ items: RunAnswer[] }>('POST', `/runs/${part(runId)}/stop`);
    if (use.options.json) use.terminal.line(JSON.stringify(body.items));
    else use.terminal.line(`Stopping ${runId}.`);
    return exitCodes.done;
  },
};

function countOf({ options }: Use): number {
  return numberOf('limit', options.text('limit') ?? String(defaultCount));
}

/** @throws CommandProblem */
export function numberOf(option: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageProblem(`--${option} is "${text}": expected a whole number from 1.`);
}

/** @throws CommandProblem for a wrong number of arguments */
export function expectArgs(
  { args }: Use,
  count: number,
  names: string,
): readonly [string, ...string[]] {
  const [first, ...others] = args;
  if (first === undefined || args.length !== count) {
    throw usageProblem(`Expected ${args.length > count ? 'only ' : ''}${names}.`);
  }
  return [first, ...others];
}
