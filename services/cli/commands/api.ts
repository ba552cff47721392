/** The `api` command, which requests any path, for servers that are newer than this program. */
import { resolve } from 'node:path';
import { readFile } from 'node:fs/promises';
import { writeBody } from '../api/answer.ts';
import type { Command } from '../command.ts';
import { exitCodes, usageProblem } from '../problem.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export const api: Command = {
  name: 'api',
  arguments: 'METHOD PATH',
  summary: 'send a request to any path of the API',
  details:
    'For operations of a newer server that this version does not support. Prints the response body ' +
    'unchanged.',
  options: {
    body: { value: 'JSON', help: 'body as JSON, @FILE, or - for standard input' },
    file: { value: 'FILE', help: 'write to a file instead of standard output' },
  },
  examples: [
    ["api GET '/api/v1/runs?status=failed&limit=5'", 'read'],
    [
      'api PATCH /api/v1/groups/01900000-0000-7000-8000-000000000004 --body \'{"icon": "box"}\'',
      'change',
    ],
  ],
  run: async (use) => {
    const { args, options, folder, input } = use;
    const [method = '', path = ''] = args;
    if (args.length !== 2 || !methods.includes(method) || !path.startsWith('/')) {
      throw usageProblem(
        `Expected METHOD PATH: one of ${methods.join(', ')}, and a path such as /api/v1/runs.`,
      );
    }
    const { api: client } = await use.session();
    const given = options.text('body');
    const file = given?.startsWith('@') ? resolve(folder, given.slice(1)) : undefined;
    const text = given === '-' ? await input() : file ? await readFile(file, 'utf8') : given;
    const answer = await client.raw(method, path, {
      fromRoot: true,
      ...(text !== undefined && {
        bytes: Buffer.from(text),
        headers: { 'Content-Type': 'application/json' },
      }),
    });
    await writeBody(answer, use);
    return exitCodes.done;
  },
};
