/** Returns the timeline of a run. */
import type { Recorded } from '#domain/aggregates.ts';
import type { RunEvent } from '#domain/run/events.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { readSpans } from '#infra/postgres/logs/run-spans.ts';
import { criticalPath, relatedRuns } from '#projections/runs/related-runs.ts';
import { isIn, visibleRun } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { pathParameters } from '../http/schema.ts';
import { RelatedRunItems, RunSpanItems } from './schema.ts';
import { platformSpans, scriptSpanJson } from './view.ts';

const maxRelatedRuns = 200;

const listSpans = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/spans',
  operationId: 'listRunSpans',
  summary: 'List the spans of a run: platform steps, then spans of the script',
  description:
    'Platform steps are computed from the events of the run. The script records its own spans with ' +
    '`platform.span`, at most 1000 per run. The WebSocket `/ws/runs/{run_id}` sends changed spans as ' +
    '`{"type": "span", …}`.',
  tag: 'Runs',
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  responses: { 200: { description: 'All spans, by start.', schema: RunSpanItems } },
  handle: async ({ principal, parameters: { run_id } }, { database, readModels }) => {
    const run = await visibleRun(principal, run_id, readModels);
    if (run === undefined) return notFound;
    const [events, stored] = await Promise.all([
      readStream(database, `run-${run_id}`, 1),
      readSpans(database, [run_id]),
    ]);
    const hasEnded = run.finished_at !== null;
    return json(200, {
      items: [
        ...platformSpans(events as readonly Recorded<RunEvent>[]),
        ...stored.map((span) => scriptSpanJson(span, hasEnded)),
      ],
    });
  },
});

const timeline = operation({
  method: 'get',
  path: '/api/v1/runs/{run_id}/timeline',
  operationId: 'listRelatedRuns',
  summary: 'List the runs related to a run by chains or retries, oldest first',
  description:
    'Contains all runs that are connected by retries, chains or requests by scripts. `critical` marks the ' +
    `runs on the critical path, which determined when the last run ended. At most ${maxRelatedRuns} runs; runs in ` +
    'groups that the caller cannot access are omitted.',
  tag: 'Runs',
  access: { right: 'runs.read' },
  parameters: { run_id: pathParameters.runId },
  responses: {
    200: { description: 'The related runs, including the run itself.', schema: RelatedRunItems },
  },
  handle: async ({ principal, parameters: { run_id } }, { readModels }) => {
    if ((await visibleRun(principal, run_id, readModels)) === undefined) return notFound;
    const runs = await relatedRuns(readModels, run_id, maxRelatedRuns);
    const critical = criticalPath(runs);
    const shown = runs.filter((one) => isIn(principal, one.group_id));
    return json(200, {
      items: shown.map(({ group_id: _, ...one }) => ({
        ...one,
        critical: runs.length > 1 && critical.has(one.run_id),
      })),
    });
  },
});

export const spanOperations: readonly Operation[] = [listSpans, timeline];
