/** Commands that are generated from the operations of the API. */
import { ApiProblem, type Api, type ApiCall } from '#services/shared/api-client.ts';
import type { Page } from '../answers.ts';
import type { Command, Option, Use } from '../command.ts';
import { openPasswordSession } from '../password-session.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import { confirm } from '../prompt.ts';
import { printAnswer, writeBody } from './answer.ts';
import { readOperations, type ApiOperation, type Field } from './operations.ts';
import { optionOf, requestOf } from './request.ts';

const defaultCount = 50;
const largestPage = 200;
/** The timeout for files is long, because a large file takes a long time on a slow connection. */
const transferMs = 24 * 60 * 60_000;

/** One command for each operation in the table. */
export function apiCommands(): readonly Command[] {
  return readOperations().map(commandOf);
}

function commandOf(operation: ApiOperation): Command {
  const { name, summary, details, example, fields, method, path } = operation;
  const sentences = [details, `Sends ${method} ${path}.`].filter((one) => one !== undefined);
  return {
    name,
    arguments: fields.flatMap((field) => (field.in === 'path' ? [field.label] : [])).join(' '),
    summary: `${summary[0]?.toLowerCase()}${summary.slice(1)}`,
    details: sentences.join(' '),
    options: optionsOf(operation),
    examples: [[`${name} ${example}`.trim(), 'values from the API description']],
    run: (use) => run(operation, use),
  };
}

function optionsOf(operation: ApiOperation): Readonly<Record<string, Option>> {
  const { fields, session, upload, download, pages, destructive } = operation;
  const takesBody = fields.some((field) => field.in === 'body');
  return {
    ...Object.fromEntries(
      fields
        .filter((field) => field.in !== 'path')
        .map((one) => [optionOf(one), optionOfField(one)]),
    ),
    ...(pages && {
      limit: { value: 'N', help: `maximum number of items (default ${defaultCount})` },
      all: { help: 'all items' },
    }),
    ...(takesBody && {
      body: {
        value: 'JSON',
        help: 'body as JSON, @FILE or - for standard input; options override its fields',
      },
    }),
    ...(upload && { file: { value: 'FILE', help: 'file to send, or - for standard input' } }),
    ...(download && {
      file: { value: 'FILE', help: 'write to a file instead of standard output' },
    }),
    ...(session && {
      'account-password-from': {
        value: 'FILE',
        help: 'file that contains your password, or - for standard input; prompted for if omitted',
      },
    }),
    ...((destructive || fields.some((field) => field.name === 'prune')) && {
      yes: { help: 'do not ask for confirmation' },
    }),
  };
}

const valueNames = { text: 'TEXT', number: 'N', json: 'JSON', secret: 'FILE' } as const;

function optionOfField({ kind, choices, many, refersTo, help, required, nullable }: Field): Option {
  if (kind === 'switch') return { help, negatable: true };
  const notes = [
    required && 'required',
    many && 'repeatable',
    nullable && 'null to clear',
    kind === 'secret' && 'read from FILE, or - for standard input',
  ].filter((note) => typeof note === 'string');
  return {
    value: refersTo?.toUpperCase() ?? valueNames[kind],
    help: `${help}${notes.length === 0 ? '' : ` [${notes.join(', ')}]`}`,
    ...(many && { multiple: true }),
    ...(choices !== undefined && { choices }),
  };
}

async function run(operation: ApiOperation, use: Use): Promise<number> {
  const { api } = await use.session();
  const request = await requestOf(operation, use, api);
  if (operation.destructive || use.options.flag('prune') === true) {
    await confirmed(operation, use);
  }
  if (!operation.session) return await send(operation, request, use, api);
  await using signedIn = await openPasswordSession(use, request.call.body);
  return await send(operation, request, use, signedIn.api);
}

async function confirmed({ summary }: ApiOperation, { args, options }: Use): Promise<void> {
  if (options.has('yes')) return;
  const named = args.length === 0 ? '' : ` (${args.join(' ')})`;
  if (await confirm(`${summary}${named}?`)) return;
  throw new CommandProblem(exitCodes.interrupted, 'Nothing was changed.');
}

async function send(
  operation: ApiOperation,
  { path, call }: Awaited<ReturnType<typeof requestOf>>,
  use: Use,
  api: Api,
): Promise<number> {
  const { terminal, options } = use;
  try {
    const full: ApiCall = {
      ...call,
      fromRoot: true,
      idempotent: operation.repeatable ?? false,
      ...((operation.upload ?? operation.download) && { deadlineMs: transferMs }),
    };
    const isWhole = ['format', 'tail'].some((name) => call.query?.[name] !== undefined);
    if (operation.pages && !isWhole) {
      const body = await allPages(path, full, use, api);
      if (options.json) terminal.line(JSON.stringify(body));
      else printAnswer(body, terminal);
      return exitCodes.done;
    }
    const answer = await api.raw(operation.method, path, full);
    const isJson = /[/+]json/.test(answer.headers['content-type'] ?? '');
    if (operation.download || !isJson) {
      await writeBody(answer, use);
      return exitCodes.done;
    }
    const body = await api.json(operation.method, answer);
    if (options.json) terminal.line(JSON.stringify(body));
    else printAnswer(body, terminal);
    return exitCodes.done;
  } catch (error) {
    throw error instanceof ApiProblem ? withOptions(error, operation) : error;
  }
}

/** Fetches the first page, and adds the items of further pages up to `--limit`. */
async function allPages(
  path: string,
  call: ApiCall,
  { options, terminal }: Use,
  api: Api,
): Promise<Page<unknown>> {
  const count = countOf(options.text('limit'), options.has('all'));
  const query = (cursor: string | null | undefined, found: number) => ({
    ...call.query,
    limit: Math.min(largestPage, count - found),
    ...(cursor && { cursor }),
  });
  const { body: first } = await api.call<Page<unknown>>('GET', path, {
    ...call,
    query: query(undefined, 0),
  });
  const items = [...first.items];
  let cursor = first.next_cursor;
  while (cursor !== null && items.length < count) {
    const { body } = await api.call<Page<unknown>>('GET', path, {
      ...call,
      query: query(cursor, items.length),
    });
    items.push(...body.items);
    cursor = body.next_cursor;
  }
  if (cursor !== null && !options.json) {
    terminal.problem(`More than ${items.length} items exist. Show all: --all`);
  }
  return { ...first, items, next_cursor: cursor };
}

function countOf(limit: string | undefined, isAll: boolean): number {
  if (isAll) return Number.POSITIVE_INFINITY;
  if (limit === undefined) return defaultCount;
  if (/^[1-9]\d{0,8}$/.test(limit)) return Number(limit);
  throw usageProblem(`--limit is "${limit}": expected a whole number from 1.`);
}

/** Replaces the API's field names in a problem with option names. */
function withOptions(problem: ApiProblem, { fields, name }: ApiOperation): Error {
  const { status, code, message, errors, cause, mayBeDone } = problem;
  const [resource] = name.split(' ');
  if (status === 404) {
    return new CommandProblem(
      exitCodes.notFound,
      `${message} See the commands: orchestrator ${resource} --help`,
    );
  }
  const optionFor = (fieldName: string | undefined) => {
    const field = fields.find((one) => one.name === fieldName);
    return field === undefined ? undefined : `--${optionOf(field)}`;
  };
  const lines = errors.map(
    ({ pointer, detail }) => `${optionFor(pointer.split('/')[1]) ?? (pointer || '/')}: ${detail}`,
  );
  const general = message.replaceAll(
    /The (?:parameter|field) "([\w-]+)"/g,
    (text, quoted: string) => optionFor(quoted) ?? text,
  );
  const told = lines.length === 0 ? general : lines.join('\n');
  return new ApiProblem(status, code, told, { cause, mayBeDone });
}
