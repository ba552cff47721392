/** Run logs (contract §3, "Run log"). */
import {
  logLevels,
  type LogPage as StoredPage,
  type LogQuery,
  type RunLogs,
} from '#domain/ports/run-logs.ts';
import Type, { type Static } from 'typebox';
import { visibleRun } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { defaultLimit, keyOf, pageOf } from '../http/paging.ts';
import { isProblem, notFound, problem } from '../http/problem.ts';
import { disclosing, stream } from '../http/reply.ts';
import { pageQuery, pathParameters } from '../http/schema.ts';
import { LogPage, LogStream } from './schema.ts';

const query = Type.Object(
  {
    ...pageQuery,
    from_seq: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2 ** 53 - 1, description: 'First line to return.' }),
    ),
    tail: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'Returns only this many lines from the end.',
      }),
    ),
    stream: Type.Optional(LogStream),
    level: Type.Optional(
      Type.Enum(logLevels, {
        description: 'Only lines of this level or above. Lines without a level are omitted.',
      }),
    ),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Only lines that contain this text, ignoring case.',
      }),
    ),
    format: Type.Optional(
      Type.Enum(['json', 'text'], {
        description: '`text` downloads all matching lines as plain text.',
      }),
    ),
  },
  { additionalProperties: false },
);

const readLogs = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/logs',
  operationId: 'readRunLogs',
  summary: 'Read the log of a run, oldest line first',
  description:
    'While the run is active, repeat the request with `from_seq` to get new lines, or use the WebSocket ' +
    '`/ws/runs/{run_id}`. With `q`, a page may have few lines although more pages follow.',
  tag: 'Runs',
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  query,
  responses: {
    200: {
      description: 'One page of lines. With `format=text`, all matching lines.',
      schema: LogPage,
      alternatives: { 'text/plain': Type.String() },
      headers: ['Link', 'Content-Disposition'],
    },
  },
  handle: async (call, { readModels, runLogs }) => {
    const { principal, parameters, query: asked, url } = call;
    const run = await visibleRun(principal, parameters.run_id, readModels);
    if (run === undefined) return notFound;
    if (asked.tail !== undefined && asked.cursor !== undefined) return eitherOr;
    const { limit, cursor, from_seq, tail, stream: name, level, q, format } = asked;
    const filter = [run.run_id, from_seq, name, level, q];
    const request = { list: 'logs', filter, url, limit, cursor };
    const after = keyOf(request, parseSeq);
    if (isProblem(after)) return after;
    const wanted = wantedOf(asked, after.key ?? from_seq ?? 1);
    if (format === 'text') {
      const lines = asText(run.run_id, wanted, runLogs);
      const download = stream(200, 'text/plain; charset=utf-8', lines, {
        'Content-Disposition': `attachment; filename="run-${run.run_id}.log"`,
      });
      return disclosing(download, { action: 'log_downloaded' });
    }
    const page = await runLogs.read(run.run_id, wanted);
    const next = page.more && tail === undefined ? String(page.nextSeq) : null;
    return pageOf(request, page.items, next);
  },
});

const eitherOr = problem('invalid_parameter', 'Use either "tail" or "cursor", not both.');

function parseSeq(text: string): number | undefined {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}

function wantedOf(asked: Static<typeof query>, fromSeq: number): LogQuery {
  return {
    fromSeq,
    limit: asked.tail ?? asked.limit ?? defaultLimit,
    ...(asked.tail !== undefined && { fromEnd: true }),
    ...(asked.stream !== undefined && { stream: asked.stream }),
    ...(asked.level !== undefined && { minLevel: asked.level }),
    ...(asked.q !== undefined && { contains: asked.q }),
  };
}

const linesPerPage = 1000;

/** Streams the lines as text. Reads them from storage in pages, at the client's pace. */
async function* asText(
  runId: string,
  wanted: LogQuery,
  runLogs: RunLogs,
): AsyncGenerator<Uint8Array, void> {
  if (wanted.fromEnd) {
    yield plain(await runLogs.read(runId, wanted));
    return;
  }
  let { fromSeq } = wanted;
  for (;;) {
    const page = await runLogs.read(runId, { ...wanted, fromSeq, limit: linesPerPage });
    yield plain(page);
    if (!page.more || page.nextSeq <= fromSeq) return;
    fromSeq = page.nextSeq;
  }
}

function plain({ items }: StoredPage): Uint8Array {
  return Buffer.from(items.map((item) => `${item.text}\n`).join(''));
}

export const logOperations: readonly Operation[] = [readLogs];
