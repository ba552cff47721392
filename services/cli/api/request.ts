/** Builds an API request from positional arguments and options. */
import { openAsBlob } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileParts, part, type Api, type ApiCall } from '#services/shared/api-client.ts';
import { findId } from '../answers.ts';
import type { Use } from '../command.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import { askHidden } from '../prompt.ts';
import type { ApiOperation, Field } from './operations.ts';

export interface ApiRequest {
  /** The path below the root of the server, with the parameters filled in. */
  readonly path: string;
  readonly call: ApiCall;
}

/** Builds the request of a command line. Prompts for required secrets whose option is missing.
 *  @param api looks up the IDs of scripts, groups, users and channels by name
 *  @throws CommandProblem for values that cannot be used */
export async function requestOf(operation: ApiOperation, use: Use, api: Api): Promise<ApiRequest> {
  const values = await valuesOf(operation.fields, use, api);
  const at = (place: Field['in']) =>
    Object.fromEntries(
      operation.fields
        .filter((field) => field.in === place && values.has(field))
        .map((field) => [field.name, values.get(field)]),
    );
  const inPath = at('path');
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'path' ? fileParts(String(inPath[name])) : part(String(inPath[name])),
  );
  const headers = at('header') as Record<string, string>;
  const query = at('query') as ApiCall['query'];
  const file = use.options.text('file');
  const json = use.options.text('body');
  const body = {
    ...(json !== undefined && objectOf(await jsonOf('body', json, use))),
    ...at('body'),
  };
  const hasBody = operation.fields.some((field) => field.in === 'body');
  return {
    path,
    call: {
      query: query ?? {},
      headers: {
        ...headers,
        ...(operation.upload !== undefined && { 'Content-Type': operation.upload }),
      },
      ...(operation.upload !== undefined && { bytes: await contentOf(file, use) }),
      ...(hasBody && { body }),
    },
  };
}

async function valuesOf(
  fields: readonly Field[],
  use: Use,
  api: Api,
): Promise<ReadonlyMap<Field, unknown>> {
  const values = new Map<Field, unknown>();
  const names = fields.filter((field) => field.in === 'path');
  if (use.args.length !== names.length) {
    const expected = names.map(({ label }) => label).join(' ');
    throw usageProblem(
      `Expected ${expected === '' ? 'no arguments' : expected}. Arguments given: ${use.args.length}.`,
    );
  }
  for (const field of fields) {
    const given = field.in === 'path' ? use.args[names.indexOf(field)] : givenOption(field, use);
    const value = await valueOf(field, given, use, api);
    if (value !== undefined) values.set(field, value);
  }
  for (const field of fields) {
    if (!field.required || values.has(field) || use.options.has('body')) continue;
    if (use.options.text('body') !== undefined) continue;
    throw usageProblem(`--${optionOf(field)} is missing: ${field.help}.`);
  }
  return values;
}

type Given = string | boolean | readonly string[] | undefined;

function givenOption(field: Field, { options }: Use): Given {
  if (field.kind === 'switch') return options.flag(field.label);
  if (!field.many) return options.text(optionOf(field));
  const texts = options.texts(field.label);
  return texts.length === 0 ? undefined : texts;
}

/** The option of a field. A secret has an option for the file that contains it. */
export function optionOf({ label, kind }: Field): string {
  return kind === 'secret' ? `${label}-from` : label;
}

async function valueOf(field: Field, given: Given, use: Use, api: Api): Promise<unknown> {
  // The value of a secret is required, unless an external store has the value.
  const isNeeded =
    field.required || (field.label === 'value' && use.options.text('store') === undefined);
  if (given === undefined && field.kind === 'secret' && isNeeded) {
    return use.options.text('body') === undefined
      ? await askHidden(field.label, `Pass --${optionOf(field)}.`)
      : undefined;
  }
  if (typeof given !== 'object') {
    return typeof given === 'string' ? await parse(field, given, use, api) : given;
  }
  const [first = ''] = given;
  if (given.length === 1 && first.startsWith('[')) return await jsonOf(field.label, first, use);
  return await Promise.all(given.map((text) => parse(field, text, use, api)));
}

async function parse(field: Field, text: string, use: Use, api: Api): Promise<unknown> {
  const { kind, nullable = false, choices, refersTo, label } = field;
  if (nullable && text === 'null') return null;
  if (kind === 'json') return await jsonOf(label, text, use);
  if (kind === 'secret') return (await textOf(text, use)).replace(/\r?\n$/, '');
  if (kind === 'number') return numberOf(label, text);
  if (choices !== undefined && !choices.includes(text)) {
    throw usageProblem(`--${label} is "${text}": expected one of ${choices.join(', ')}.`);
  }
  if (refersTo === undefined) return text;
  // A leading "!" in a filter excludes the resource.
  const [, not = '', name = ''] = /^(!?)(.*)$/s.exec(text) ?? [];
  return `${not}${await findId(api, refersTo, name)}`;
}

function numberOf(label: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) {
    throw usageProblem(`--${label} is "${text}": expected a number.`);
  }
  return value;
}

/** @param text JSON, `@` followed by the name of a file with JSON, or `-` for standard input */
async function jsonOf(label: string, text: string, use: Use): Promise<unknown> {
  const json =
    text === '-' || text.startsWith('@') ? await textOf(text.replace('@', ''), use) : text;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw usageProblem(
      `--${label} is not JSON. Pass JSON, @FILE for a file with JSON, or - for standard input.`,
    );
  }
}

function objectOf(value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw usageProblem('--body is not a JSON object.');
}

async function textOf(file: string, { folder, input }: Use): Promise<string> {
  return file === '-' ? await input() : await readFile(resolve(folder, file), 'utf8');
}

/** Returns a file as a stream, so that it is not loaded into memory. */
async function contentOf(file: string | undefined, { folder }: Use): Promise<Uint8Array | Blob> {
  if (file === undefined) throw usageProblem('--file is missing: specify the file to send.');
  if (file === '-') return await buffer(process.stdin);
  const path = resolve(folder, file);
  try {
    if ((await stat(path)).isDirectory()) throw new Error(`${path} is a folder`);
    return await openAsBlob(path);
  } catch (cause) {
    throw new CommandProblem(exitCodes.inputOutput, `${path} cannot be read.`, { cause });
  }
}
