import type { Command } from '#domain/aggregates.ts';
import { chainId, groupId, runId, scriptId } from '#domain/testing/ids.ts';
import { at, beginning, recordAll } from '#domain/testing/recorded.ts';
import { createChain, createScript } from '#domain/testing/samples.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAll } from '../projection.ts';
import { scriptsProjection } from '../scripts/apply.ts';
import { openTestReads, rowsAfter, type TestReads } from '../testing/delivery.ts';
import { chainAnswersProjection, chainsProjection } from './apply.ts';
import { chainsAfter, findChain, listChainAnswers, listChains } from './queries.ts';

let reads: TestReads;
beforeAll(async () => {
  reads = await openTestReads();
});
afterAll(() => reads.close());

const id = { chainId: chainId() };
const target = createScript({ scriptId: scriptId(2) });
const off: Command = { type: 'ChangeChain', ...id, changes: { enabled: false } };
const on: Command = { type: 'ChangeChain', ...id, changes: { enabled: true, on: 'any' } };
const skip: Command = { type: 'SkipChain', ...id, sourceRunId: runId(), reason: 'not_found' };
const remove: Command = { type: 'DeleteChain', ...id };

test('the row of a chain is updated when the chain is disabled, enabled and deleted', async () => {
  const row = async (...commands: readonly Command[]) => {
    const events = await recordAll([...beginning, target, createChain(), ...commands]);
    const { chains } = await rowsAfter(reads.db, [chainsProjection], [events]);
    return chains?.[0];
  };
  const created = {
    chain_id: chainId(),
    stream_version: 1,
    source_script_id: scriptId(),
    target_script_id: scriptId(2),
    condition: 'success',
    enabled: true,
    when_busy: 'queue',
    params_sha256: null,
    active_since: at(5),
    created_at: at(5),
    created_by: 'runtime',
    updated_at: at(5),
    updated_by: 'runtime',
    deleted: false,
  };
  expect(await row()).toEqual(created);
  const idle = { enabled: false, stream_version: 2, updated_at: at(6), active_since: at(5) };
  expect(await row(off)).toMatchObject(idle);
  const active = { enabled: true, condition: 'any', active_since: at(7), created_at: at(5) };
  expect(await row(off, on)).toMatchObject(active);
  expect(await row(remove)).toMatchObject({ deleted: true });
});

describe('chains of existing and deleted scripts', () => {
  beforeAll(async () => {
    const chain = (number: number, from: number, to: number) =>
      createChain({
        chainId: chainId(number),
        sourceScriptId: scriptId(from),
        targetScriptId: scriptId(to),
      });
    const events = await recordAll([
      ...beginning,
      target,
      createScript({ scriptId: scriptId(3), groupId: groupId(2) }),
      createScript({ scriptId: scriptId(4) }),
      chain(1, 1, 2),
      chain(2, 1, 3),
      chain(3, 1, 4),
      chain(4, 2, 3),
      skip,
      { type: 'DeleteScript', scriptId: scriptId(4) },
    ]);
    await applyAll([scriptsProjection, chainsProjection, chainAnswersProjection], reads.db, events);
  });

  test('can be filtered by the groups of both scripts and by script', async () => {
    const listed = async (filter: Partial<Parameters<typeof listChains>[1]>, after?: number) => {
      const all = { groupIds: null, sourceScriptId: null, targetScriptId: null, ...filter };
      const from = after === undefined ? undefined : chainId(after);
      return (await listChains(reads.db, all, from, 9)).map((one) => one.chain_id);
    };
    expect(await listed({})).toEqual([chainId(4), chainId(2), chainId(1)]);
    expect(await listed({}, 4)).toEqual([chainId(2), chainId(1)]);
    expect(await listed({ groupIds: [groupId()] })).toEqual([chainId(1)]);
    expect(await listed({ sourceScriptId: scriptId(2) })).toEqual([chainId(4)]);
    expect(await listed({ targetScriptId: scriptId(2) })).toEqual([chainId(1)]);
  });

  test('are found by their source script, with the runs that they handled', async () => {
    const found = await chainsAfter(reads.db, scriptId());
    expect(found.map((one) => one.targetScriptId)).toEqual([scriptId(2), scriptId(3)]);
    expect(await findChain(reads.db, chainId(3))).toBeUndefined();
    const answers = await listChainAnswers(reads.db, chainId(), undefined, 9);
    expect(answers).toMatchObject([{ source_run_id: runId(), run_id: null, reason: 'not_found' }]);
    expect(await listChainAnswers(reads.db, chainId(), runId(), 9)).toEqual([]);
  });
});
