/** Lists a script's expectations, and which of them are missed. */
import { expectationKey } from '#domain/script/expectations.ts';
import { missedExpectationsOf } from '#projections/expectations/queries.ts';
import Type from 'typebox';
import { visibleScript } from '../access/visibility.ts';
import { operation, type Operation } from '../http/operation.ts';
import { notFound } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import { Exact, examples, Nullable, pathParameters, Time, Uuid } from '../http/schema.ts';
import { Expectation } from './settings-schema.ts';

const ExpectationItems = Exact(
  {
    items: Type.Array(
      Exact(
        {
          expectation: Expectation,
          missed: Type.Array(
            Exact(
              {
                since: Time(),
                detail: Type.String(),
                run_id: Nullable(Uuid('The run that is taking too long.')),
              },
              { title: 'MissedExpectation' },
            ),
            { description: 'Violations of the expectation. Empty while the expectation is met.' },
          ),
        },
        { title: 'CheckedExpectation' },
      ),
    ),
  },
  {
    title: 'CheckedExpectations',
    examples: [
      {
        items: [
          {
            expectation: { kind: 'finish_by', cron: '0 7 * * *', timezone: 'Europe/Berlin' },
            missed: [
              {
                since: examples.time,
                detail: 'No run succeeded by 2026-11-20 07:00:00+01:00.',
                run_id: null,
              },
            ],
          },
        ],
      },
    ],
  },
);

const list = operation({
  method: 'get',
  path: '/api/v1/scripts/{id}/expectations',
  operationId: 'listExpectations',
  summary: 'List the expectations of a script and whether they are met',
  description: 'Expectations are checked every 5 seconds while the script is enabled.',
  tag: 'Scripts',
  access: { right: 'scripts.list' },
  parameters: { id: pathParameters.scriptId },
  responses: { 200: { description: 'The expectations.', schema: ExpectationItems } },
  handle: async ({ principal, parameters: { id } }, { readModels }) => {
    const script = await visibleScript(principal, id, readModels);
    if (script === undefined) return notFound;
    const missed = await missedExpectationsOf(readModels, id);
    const items = script.expectations.map((expectation) => ({
      expectation,
      missed: missed
        .filter(({ key }) => key === expectationKey(expectation))
        .map(({ since, detail, runId }) => ({ since, detail, run_id: runId })),
    }));
    return json(200, { items });
  },
});

export const scriptExpectationOperations: readonly Operation[] = [list];
