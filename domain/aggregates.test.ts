/** Tests that apply to every aggregate. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventTypes, bindCommand, type Command as RegisteredCommand } from './aggregates.ts';
import { backupAggregate } from './backup/decide.ts';
import { calendarAggregate } from './calendar/decide.ts';
import { chainAggregate } from './chain/decide.ts';
import { disclosureAggregate } from './disclosure/decide.ts';
import { channelAggregate } from './channel/decide.ts';
import { deliveryAggregate } from './delivery/decide.ts';
import { errorGroupAggregate } from './error-group/decide.ts';
import { expectationAggregate } from './expectation/decide.ts';
import { repositoryAggregate } from './repository/decide.ts';
import { poolAggregate } from './pool/decide.ts';
import { rotationAggregate } from './rotation/decide.ts';
import { ruleAggregate } from './rule/decide.ts';
import { identityProviderAggregate } from './identity-provider/decide.ts';
import { groupAggregate } from './group/decide.ts';
import type { Aggregate } from './kernel/aggregate.ts';
import type { Decision } from './kernel/decision.ts';
import type { DomainEvent } from './kernel/event.ts';
import { packJson } from './kernel/json.ts';
import { noticeAggregate } from './notice/decide.ts';
import { refusalAggregate } from './refusal/decide.ts';
import { runAggregate } from './run/decide.ts';
import { runtimeAggregate } from './runtime/decide.ts';
import { scheduleAggregate } from './schedule/decide.ts';
import { scriptAggregate } from './script/decide.ts';
import { groupSecretAggregate } from './group-secret/decide.ts';
import { secretUseAggregate } from './secret-use/decide.ts';
import { secretStoreAggregate } from './secret-store/decide.ts';
import { secretAggregate } from './secret/decide.ts';
import { sessionAggregate } from './session/decide.ts';
import {
  anyScriptFacts,
  backupCommand,
  chainCommand,
  disclosureCommand,
  channelCommand,
  deliveryCommand,
  errorGroupCommand,
  expectationCommand,
  poolCommand,
  repositoryCommand,
  groupCommand,
  identityProviderCommand,
  ruleCommand,
  noticeCommand,
  refusalCommand,
  runCommand,
  runtimeCommand,
  scheduleCommand,
  scriptCommand,
  groupSecretCommand,
  calendarCommand,
  rotationCommand,
  secretCommand,
  secretStoreCommand,
  secretUseCommand,
  sessionCommand,
  systemCommand,
  tokenCommand,
  updateCommand,
  webhookCommand,
  userCommand,
} from './testing/arbitraries.ts';
import { stateAfter } from './snapshots.ts';
import { systemAggregate } from './system/decide.ts';
import { recorded } from './testing/recorded.ts';
import { groupId } from './testing/ids.ts';
import { scriptFacts } from './testing/samples.ts';
import { shapeOf } from './testing/state-shapes.ts';
import { ends, steps } from './testing/steps.ts';
import { stored } from './testing/stored.ts';
import { tokenAggregate } from './token/decide.ts';
import { updateAggregate } from './update/decide.ts';
import { userAggregate } from './user/decide.ts';
import { webhookAggregate } from './webhook/decide.ts';

const noFacts = fc.constant(undefined);
const usuallyTrue = fc.constantFrom(true, true, true, false);

every('script', scriptAggregate, scriptCommand, fc.record({ groupExists: usuallyTrue }));
every('run', runAggregate, runCommand, fc.oneof(fc.constant(scriptFacts()), anyScriptFacts));
every(
  'user',
  userAggregate,
  userCommand,
  fc.record({
    emailTaken: fc.boolean(),
    otherAdministrator: fc.boolean(),
    identityTaken: fc.boolean(),
    keyExists: usuallyTrue,
  }),
);
every('session', sessionAggregate, sessionCommand, noFacts);
every('token', tokenAggregate, tokenCommand, noFacts);
every(
  'webhook',
  webhookAggregate,
  webhookCommand,
  fc.record({ scriptExists: usuallyTrue, keyExists: usuallyTrue }),
);
every(
  'chain',
  chainAggregate,
  chainCommand,
  fc.record({
    scriptsExist: usuallyTrue,
    links: fc.constant([]),
    answered: fc.constant(true),
  }),
);
every(
  'group',
  groupAggregate,
  groupCommand,
  fc.record({ inUse: fc.boolean(), nameTaken: fc.boolean() }),
);
every(
  'channel',
  channelAggregate,
  channelCommand,
  fc.record({ keyExists: usuallyTrue, groupExists: usuallyTrue, inUse: fc.constant(false) }),
);
every(
  'identity_provider',
  identityProviderAggregate,
  identityProviderCommand,
  fc.record({ keyExists: usuallyTrue, missingGroupId: fc.constantFrom(undefined, groupId()) }),
);
every('error_group', errorGroupAggregate, errorGroupCommand, noFacts);
every('calendar', calendarAggregate, calendarCommand, fc.record({ inUse: fc.boolean() }));
every('rotation', rotationAggregate, rotationCommand, noFacts);
every('expectation', expectationAggregate, expectationCommand, noFacts);
every(
  'pool',
  poolAggregate,
  poolCommand,
  fc.record({ named: fc.constant(undefined), inUse: fc.boolean() }),
);
every(
  'repository',
  repositoryAggregate,
  repositoryCommand,
  fc.record({ keysExist: usuallyTrue, nameTaken: fc.constant(false) }),
);
every('runtime', runtimeAggregate, runtimeCommand, noFacts);
every('rule', ruleAggregate, ruleCommand, fc.constant({ missing: undefined }));
every('backup', backupAggregate, backupCommand, noFacts);
every('update', updateAggregate, updateCommand, noFacts);
every('delivery', deliveryAggregate, deliveryCommand, noFacts);
every('system', systemAggregate, systemCommand, noFacts);
every(
  'secret',
  secretAggregate,
  secretCommand,
  fc.record({ scriptExists: usuallyTrue, keyExists: usuallyTrue, mayUseStore: usuallyTrue }),
);
every(
  'group_secret',
  groupSecretAggregate,
  groupSecretCommand,
  fc.record({ groupExists: usuallyTrue, keyExists: usuallyTrue, mayUseStore: usuallyTrue }),
);
every(
  'secret_store',
  secretStoreAggregate,
  secretStoreCommand,
  fc.record({
    keyExists: usuallyTrue,
    missingGroupId: fc.constant(undefined),
    nameTaken: fc.constant(false),
    users: fc.constantFrom([], ['TOKEN']),
  }),
);
every('secret_use', secretUseAggregate, secretUseCommand, noFacts);
every(
  'schedule',
  scheduleAggregate,
  scheduleCommand,
  fc.record({
    scriptExists: usuallyTrue,
    calendarExists: usuallyTrue,
    servedUntil: fc.constant('2026-01-01T00:01:00.000Z'),
  }),
);
every('notice', noticeAggregate, noticeCommand, fc.constant({ groupId: groupId() }));
every('refusal', refusalAggregate, refusalCommand, noFacts);
every('disclosure', disclosureAggregate, disclosureCommand, noFacts);

test('no two aggregates record events of the same type', () => {
  expect(new Set(eventTypes).size).toBe(eventTypes.length);
});

function every<State, Command extends { readonly type: string }, Event extends DomainEvent, Facts>(
  name: string,
  aggregate: Aggregate<State, Command, Event, Facts>,
  command: fc.Arbitrary<Command>,
  facts: fc.Arbitrary<Facts>,
): void {
  const asked = fc.array(fc.tuple(command, facts), { maxLength: 25, size: 'max' });
  const property = (
    check: (taken: ReturnType<typeof steps<State, Command, Event, Facts>>) => void,
  ) =>
    fc.assert(
      fc.property(asked, (all) => check(steps(aggregate, all))),
      { numRuns: 100 },
    );

  describe(`any history of the "${name}" aggregate`, () => {
    test('contains only events from streams of its type', () => {
      property((taken) => {
        for (const { streamId } of taken) expect(streamId).toMatch(`${aggregate.streamType}-`);
      });
    });

    test('is created only by commands that this aggregate handles', () => {
      const decidedBy = (one: unknown) => bindCommand(one as RegisteredCommand).streamType;
      fc.assert(fc.property(command, (one) => decidedBy(one) === aggregate.streamType));
    });

    test('folds to the same state from any snapshot', () => {
      property((taken) => {
        for (const { history, after } of ends(taken)) {
          const events = history.map((event, index) => recorded(event, index + 1));
          for (const [index, last] of events.entries()) {
            const state = stateAfter(aggregate, { events: events.slice(0, index + 1) });
            const kept = { format: '', last, state: stored(packJson(state)), size: 0 };
            const rest = events.slice(index + 1);
            expect(stateAfter(aggregate, { from: kept, events: rest })).toStrictEqual(after);
          }
        }
      });
    });

    test('folds to states with the recorded shape for their state version', async () => {
      const histories = fc.sample(asked, { seed: 1, numRuns: 1000 });
      const taken = histories.flatMap((all) => steps(aggregate, all));
      const states = taken.map(({ after }) => stored(packJson(after)));
      const shape = `${JSON.stringify(shapeOf(states), null, 2)}\n`;
      // Writes the file if it is missing. Never change an existing file. Increment the `stateVersion` instead.
      const file = `testing/state-shapes/${name}.${aggregate.stateVersion}.json`;
      await expect(shape).toMatchFileSnapshot(file);
    });

    test('gains no events when a command is repeated', () => {
      property((taken) => {
        const repeats = taken.filter(({ command }) => !isDistinct(command));
        for (const { repeated } of repeats) expect(eventsOf(repeated)).toEqual([]);
      });
    });
  });
}

/** Whether a repeated command is a new action. Each use of a passkey is recorded, and several edits of one command
 *  may undo each other. */
function isDistinct(command: { readonly type: string; readonly edits?: readonly unknown[] }) {
  return command.type === 'UsePasskey' || (command.edits?.length ?? 0) > 1;
}

function eventsOf<Event>(decision: Decision<Event>): readonly Event[] {
  return decision.kind === 'accepted' ? decision.events : [];
}
