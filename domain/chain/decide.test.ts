import type { ChainLink } from '#domain/kernel/aggregate.ts';
import { given } from '#domain/testing/given.ts';
import { chainId, runId, scriptId } from '#domain/testing/ids.ts';
import { createChain } from '#domain/testing/samples.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closesCycle, type ChainSettings } from './chain.ts';
import { chainAggregate, type ChainDecisionFacts } from './decide.ts';
import type { ChainEvent } from './events.ts';

const { type: _, ...data } = createChain();
const created: ChainEvent = { type: 'ChainCreated', data };
const id = { chainId: chainId() };
const change = (changes: Partial<ChainSettings>) =>
  ({ type: 'ChangeChain', ...id, changes }) as const;
const changed = (changes: Partial<ChainSettings>): ChainEvent => ({
  type: 'ChainChanged',
  data: { ...id, ...changes },
});
const remove = { type: 'DeleteChain', ...id } as const;
const deleted: ChainEvent = { type: 'ChainDeleted', data: id };
const skip = { type: 'SkipChain', ...id, sourceRunId: runId(), reason: 'script_disabled' } as const;

/** A chain between two scripts, which are identified by their numbers. */
function link(from: number, to: number, changes: Partial<ChainLink> = {}): ChainLink {
  const chain = { chainId: chainId(10 * from + to), enabled: true };
  return { ...chain, sourceScriptId: scriptId(from), targetScriptId: scriptId(to), ...changes };
}

function facts(changes: Partial<ChainDecisionFacts> = {}): ChainDecisionFacts {
  return { scriptsExist: true, links: [], answered: false, ...changes };
}

describe('a chain that does not exist yet', () => {
  test('can be created between two scripts', () => {
    given(chainAggregate).when(createChain(), facts()).thenRecords(created);
  });

  test('cannot be created if one of the scripts does not exist', () => {
    const none = facts({ scriptsExist: false });
    given(chainAggregate).when(createChain(), none).thenRefuses('not_found');
  });

  test.each([
    ['directly', createChain({ targetScriptId: scriptId() }), []],
    ['through another chain', createChain(), [link(2, 1)]],
    ['through a third script', createChain(), [link(2, 3), link(3, 1), link(2, 4)]],
  ])('cannot be created if it would close a cycle %s', (_name, command, links) => {
    given(chainAggregate).when(command, facts({ links })).thenRefuses('validation_failed');
  });

  test('can close a cycle if it or another chain in the cycle is disabled', () => {
    const off = facts({ links: [link(2, 1, { enabled: false })] });
    given(chainAggregate).when(createChain(), off).thenRecords(created);
    const idle = createChain({ enabled: false });
    const made: ChainEvent = { type: 'ChainCreated', data: { ...data, enabled: false } };
    const back = facts({ links: [link(2, 1)] });
    given(chainAggregate).when(idle, back).thenRecords(made);
  });

  test.each([change({ enabled: false }), remove, skip])('refuses %j with not_found', (command) => {
    given(chainAggregate).when(command, facts()).thenRefuses('not_found');
  });
});

describe('an existing chain', () => {
  const chain = given(chainAggregate, created);
  const own = link(1, 2, { chainId: chainId() });

  test('records a repeated settings change only once', () => {
    const wanted = { on: 'any', enabled: true } as const;
    chain.when(change(wanted), facts({ links: [own] })).thenRecords(changed({ on: 'any' }));
    const after = given(chainAggregate, created, changed({ on: 'any' }));
    after.when(change(wanted), facts({ links: [own] })).thenRecordsNothing();
  });

  test('cannot be redirected to a target that would close a cycle', () => {
    const links = [own, link(3, 1)];
    const command = change({ targetScriptId: scriptId(3) });
    chain.when(command, facts({ links })).thenRefuses('validation_failed');
  });

  test('cannot be enabled if it would close a cycle', () => {
    const off = given(chainAggregate, created, changed({ enabled: false }));
    const links = [{ ...own, enabled: false }, link(2, 1)];
    off.when(change({ enabled: true }), facts({ links })).thenRefuses('validation_failed');
    off.when(change({ on: 'any' }), facts({ links })).thenRecords(changed({ on: 'any' }));
  });

  test('records that it skipped a source run, unless it has already handled that run', () => {
    const { type: __, ...skipped } = skip;
    chain.when(skip, facts()).thenRecords({ type: 'ChainSkipped', data: skipped });
    chain.when(skip, facts({ answered: true })).thenRecordsNothing();
  });

  test('can be deleted only once, and refuses later changes', () => {
    chain.when(remove, facts()).thenRecords(deleted);
    const gone = given(chainAggregate, created, deleted);
    gone.when(remove, facts()).thenRecordsNothing();
    gone.when(change({ enabled: false }), facts()).thenRefuses('not_found');
    gone.when(skip, facts()).thenRefuses('not_found');
  });
});

test('chains created in any order never form a cycle', () => {
  const script = fc.integer({ min: 1, max: 5 });
  const asked = fc.array(fc.tuple(script, script), { maxLength: 20 });
  fc.assert(
    fc.property(asked, (pairs) => {
      const links: ChainLink[] = [];
      for (const [from, to] of pairs) {
        if (!closesCycle(links, scriptId(from), scriptId(to))) links.push(link(from, to));
      }
      const onward = (at: string, path: readonly string[]): boolean =>
        path.includes(at) ||
        links
          .filter((one) => one.sourceScriptId === at)
          .some((one) => onward(one.targetScriptId, [...path, at]));
      for (const one of links) expect(onward(one.sourceScriptId, [])).toBe(false);
    }),
  );
});
