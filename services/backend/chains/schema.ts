/** The wire format of chains. */
import { chainConditions } from '#domain/chain/chain.ts';
import { busyChoices } from '#domain/run/run.ts';
import Type from 'typebox';
import { Exact, examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

const on = Type.Enum(chainConditions, {
  description:
    'Which outcomes of a source run trigger the chain. `any` includes stopped runs. A failed attempt ' +
    'that will be retried does not trigger the chain.',
});
const whenBusy = Type.Enum(busyChoices, {
  description: "What to do when the target's limit of concurrent runs is reached.",
});
const params = Type.Object(
  {},
  {
    additionalProperties: true,
    description: "Parameters for the target's runs; at most 64 KiB of JSON.",
  },
);

const example = {
  id: examples.chainId,
  source_script_id: examples.scriptId,
  source_script_name: 'Price watcher',
  target_script_id: examples.otherScriptId,
  target_script_name: 'Nightly report',
  on: 'success',
  enabled: true,
  when_busy: 'queue',
  params: { limit: 10 },
  created_at: examples.time,
  created_by: 'ada@example.com',
  updated_at: examples.time,
  updated_by: 'ada@example.com',
};

export const Chain = Exact(
  {
    id: Uuid(),
    source_script_id: Uuid('The upstream script, whose runs trigger the chain.'),
    source_script_name: Type.String(),
    target_script_id: Uuid(),
    target_script_name: Type.String(),
    on,
    enabled: Type.Boolean(),
    when_busy: whenBusy,
    params: Nullable(params),
    created_at: Time(),
    created_by: Type.String(),
    updated_at: Time(),
    updated_by: Type.String(),
  },
  { title: 'Chain', examples: [example] },
);

export const ChainPage = Page('ChainPage', Chain);

export const NewChain = Exact(
  {
    source_script_id: Uuid(),
    target_script_id: Uuid(),
    on: Type.Optional(Type.Enum(chainConditions, { default: 'success' })),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    when_busy: Type.Optional(Type.Enum(busyChoices, { default: 'queue' })),
    params: Type.Optional(Nullable(params)),
  },
  { title: 'ChainInput' },
);

export const ChainChange = Exact(
  {
    target_script_id: Type.Optional(Uuid()),
    on: Type.Optional(on),
    enabled: Type.Optional(Type.Boolean()),
    when_busy: Type.Optional(whenBusy),
    params: Type.Optional(Nullable(params)),
  },
  { title: 'ChainChange' },
);

export const ChainOccurrence = Exact(
  {
    source_run_id: Uuid('The upstream run.'),
    time: Time(),
    outcome: Type.Enum(['fired', 'skipped']),
    reason: Nullable(
      Type.String({
        description: 'Reason code if no run was started, such as `script_disabled`.',
      }),
    ),
    run_id: Nullable(Uuid('The downstream run.')),
  },
  {
    title: 'ChainOccurrence',
    examples: [
      {
        source_run_id: examples.runId,
        time: examples.time,
        outcome: 'skipped',
        reason: 'script_disabled',
        run_id: null,
      },
    ],
  },
);

export const ChainOccurrencePage = Page('ChainOccurrencePage', ChainOccurrence);
