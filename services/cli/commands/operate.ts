/** Commands for operators: upcoming schedules, the audit trail, and health checks. */
import { part, type Api } from '#services/shared/api-client.ts';
import { findScript } from '../answers.ts';
import type { Command, Options } from '../command.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import { printTable } from '../table.ts';
import { expectArgs, numberOf } from './runs.ts';

/** The timeout is long, because verifying a long audit trail is slow. The server reports the progress in lines. */
const verifyDeadlineMs = 60 * 60_000;

interface DueTime {
  readonly utc: string;
  readonly local: string;
  readonly note: string | null;
  readonly overlap: 'likely' | 'possible' | null;
  readonly together: readonly string[];
}

const timingOptions = {
  cron: { value: 'EXPRESSION', help: 'such as "30 2 * * *"' },
  timezone: { value: 'NAME', help: 'such as Europe/Berlin (default UTC)' },
  every: { value: 'SECONDS', help: 'interval in seconds, instead of --cron' },
};

export const schedulePreview: Command = {
  name: 'schedule preview',
  arguments: '[SCHEDULE]',
  summary: 'preview the next due times of a schedule',
  details:
    'Takes the ID of an existing schedule, or a new expression or interval. If the script is known, ' +
    'also shows overlaps.',
  options: {
    ...timingOptions,
    script: {
      value: 'SCRIPT',
      help: 'script to check for overlaps, for a new schedule',
    },
    count: { value: 'N', help: 'number of due times (default 10)' },
  },
  examples: [
    [
      'schedule preview --cron "30 2 * * *" --timezone Europe/Berlin --count 3',
      'preview a new schedule',
    ],
    ['schedule preview --every 600 --script Weather', 'with its overlaps'],
    ['schedule preview 019aa3f4-01aa-7c11-8d22-5e6f70819203', 'an existing schedule'],
  ],
  run: async ({ args, options, terminal, session }) => {
    const { api } = await session();
    const [id] = args;
    const given = givenTiming(options);
    const isNamed = options.text('cron') !== undefined || options.text('every') !== undefined;
    if (id === undefined ? given === undefined : isNamed) {
      throw usageProblem('Expected one of SCHEDULE, --cron and --every.');
    }
    const named = args.join(' ');
    if (named.includes(' ')) {
      throw usageProblem(
        `"${named}" is not the ID of a schedule. For an expression, use --cron "${named}".`,
      );
    }
    const timing =
      id === undefined
        ? { ...given, script_id: await idOfScript(api, options.text('script')) }
        : timingOf((await api.call<Timing>('GET', `/schedules/${part(id)}`)).body);
    const { body } = await api.call<{ items: DueTime[] }>('POST', '/schedules/preview', {
      body: { ...timing, count: numberOf('count', options.text('count') ?? '10') },
    });
    if (options.json) terminal.line(JSON.stringify(body.items));
    printTable(
      options.json ? [] : body.items,
      [
        { title: 'local', text: (row) => row.local },
        { title: 'utc', text: (row) => row.utc },
        { title: 'note', text: (row) => [row.note ?? [], ...meetingsOf(row)].flat().join('; ') },
      ],
      terminal,
    );
    return exitCodes.done;
  },
};

async function idOfScript(api: Api, named: string | undefined): Promise<string | undefined> {
  return named === undefined ? undefined : (await findScript(api, named)).id;
}

const overlapLabels = {
  likely: 'previous run will probably still be active',
  possible: 'previous run may still be active',
};

function meetingsOf({ overlap, together }: DueTime): readonly string[] {
  return [
    ...(overlap === null ? [] : [overlapLabels[overlap]]),
    ...(together.length === 0
      ? []
      : [`overlaps with other schedules of the script: ${together.length}`]),
  ];
}

export const scheduleCreate: Command = {
  name: 'schedule create',
  arguments: 'SCRIPT',
  summary: 'create a schedule for a script; prints its ID',
  options: {
    cron: timingOptions.cron,
    timezone: timingOptions.timezone,
    every: timingOptions.every,
  },
  examples: [
    ['schedule create Weather --cron "30 2 * * *" --timezone Europe/Berlin', 'every night'],
    ['schedule create Weather --every 900', 'every 15 minutes'],
  ],
  run: async (use) => {
    const { options, terminal } = use;
    const [named] = expectArgs(use, 1, 'SCRIPT');
    const timing = givenTiming(options);
    if (timing === undefined) throw usageProblem('Expected one of --cron and --every.');
    const { api } = await use.session();
    const script = await findScript(api, named);
    const { body } = await api.call<{ readonly id: string }>('POST', '/schedules', {
      body: { script_id: script.id, ...timing },
      idempotent: true,
    });
    terminal.line(options.json ? JSON.stringify(body) : body.id);
    return exitCodes.done;
  },
};

/** `undefined` unless exactly one of `--cron` and `--every` is given. */
function givenTiming(options: Options): object | undefined {
  const [cron, every] = [options.text('cron'), options.text('every')];
  if ((cron === undefined) === (every === undefined)) return undefined;
  return {
    ...(cron === undefined
      ? { kind: 'interval', interval_seconds: numberOf('every', every ?? '') }
      : { kind: 'cron', cron }),
    timezone: options.text('timezone'),
  };
}

interface Timing {
  readonly id: string;
  readonly script_id: string;
  readonly kind: 'cron' | 'interval' | 'once';
  readonly cron: string | null;
  readonly timezone: string;
  readonly interval_seconds: number | null;
  readonly once_at: string | null;
  readonly start_at: string | null;
  readonly end_at: string | null;
}

/** The timing of an existing schedule, for a preview. */
function timingOf({ kind, cron, timezone, interval_seconds, ...rest }: Timing): object {
  const { id, script_id, once_at, start_at, end_at } = rest;
  const common = {
    timezone,
    schedule_id: id,
    script_id,
    ...(start_at !== null && { start_at }),
    ...(end_at !== null && { end_at }),
  };
  switch (kind) {
    case 'cron':
      return { kind, cron, ...common };
    case 'interval':
      return { kind, interval_seconds, ...common };
    case 'once':
      return { kind, once_at, ...common };
  }
}

interface Verification {
  readonly valid: boolean;
  readonly entries: number;
  readonly head: { readonly audit_seq: number; readonly hash: string } | null;
  readonly first_broken: number | null;
  readonly reason: string | null;
}

export const auditVerify: Command = {
  name: 'audit verify',
  arguments: '',
  summary: 'verify the audit trail; exits with 1 if it was altered',
  options: {
    head: {
      value: 'SEQ:HASH',
      help: 'a previously saved head; detects a truncated or rewritten trail',
    },
  },
  examples: [
    ['audit verify', 'the whole trail'],
    ['audit verify --head 812:9f2c…', 'verify that it still contains a saved head'],
  ],
  run: async ({ options, terminal, session }) => {
    const head = options.text('head');
    if (head !== undefined && !/^[1-9]\d*:[0-9a-f]{64}$/.test(head)) {
      throw usageProblem(
        `--head is "${head}": expected a complete head from audit verify, such as 812:9f2c…`,
      );
    }
    const { api } = await session();
    const answer = await api.raw('GET', '/audit/verify', {
      query: { head },
      headers: { Accept: 'application/x-ndjson' },
      deadlineMs: verifyDeadlineMs,
    });
    const { createInterface } = await import('node:readline');
    let last: unknown;
    for await (const line of createInterface({ input: answer })) {
      last = JSON.parse(line);
      const { checked, entries } = last as { checked?: number; entries: number };
      if (checked !== undefined && entries > 0) terminal.progress('verified', checked / entries);
    }
    if (!isVerification(last)) {
      throw new CommandProblem(exitCodes.unavailable, 'The response was truncated. Try again.');
    }
    if (options.json) terminal.line(JSON.stringify(last));
    else terminal.line(sentenceOf(last));
    return last.valid ? exitCodes.done : exitCodes.failed;
  },
};

function isVerification(value: unknown): value is Verification {
  return typeof value === 'object' && value !== null && 'valid' in value;
}

function sentenceOf({ valid, entries, head, first_broken, reason }: Verification): string {
  if (!valid)
    return `BROKEN at entry ${first_broken ?? 'unknown'}: ${reason ?? 'the entry differs'}`;
  const where = head === null ? '' : `; head ${head.audit_seq}:${head.hash}`;
  return `valid: ${entries} entries${where}`;
}
