import type { Recorded } from '#domain/aggregates.ts';
import type { ChainEvent } from '#domain/chain/events.ts';
import { isChained } from '#domain/run/run.ts';
import { actorName } from '../actors.ts';
import type { Projection, Write } from '../projection.ts';
import { arrayLiteral, rowProjection } from '../rows.ts';
import { write } from '../statement.ts';
import { chainColumns, type ChainAnswersTable, type ChainsTable } from './table.ts';

type Defining = Recorded<Exclude<ChainEvent, { type: 'ChainSkipped' }>>;

/** Builds the chains with their source and target scripts. */
export const chainsProjection: Projection = rowProjection<ChainsTable, Defining>({
  name: 'chains',
  version: 1,
  table: 'chains',
  key: 'chain_id',
  columns: chainColumns,
  handles: ['ChainCreated', 'ChainChanged', 'ChainDeleted'],
  keyOf: (event) => event.data.chainId,
  step: (row, event) => {
    const by = actorName(event.metadata.actor);
    const touched = { updated_at: event.recordedAt, updated_by: by };
    if (event.type === 'ChainCreated') {
      const { data } = event;
      return {
        chain_id: data.chainId,
        source_script_id: data.sourceScriptId,
        target_script_id: data.targetScriptId,
        condition: data.on,
        enabled: data.enabled,
        when_busy: data.whenBusy,
        params_sha256: data.paramsSha256,
        active_since: event.recordedAt,
        created_at: event.recordedAt,
        created_by: by,
        ...touched,
        deleted: false,
      };
    }
    if (row === undefined) return undefined;
    if (event.type === 'ChainDeleted') return { ...row, ...touched, deleted: true };
    const { data } = event;
    return {
      ...row,
      ...touched,
      target_script_id: data.targetScriptId ?? row.target_script_id,
      condition: data.on ?? row.condition,
      enabled: data.enabled ?? row.enabled,
      when_busy: data.whenBusy ?? row.when_busy,
      params_sha256: data.paramsSha256 === undefined ? row.params_sha256 : data.paramsSha256,
      active_since: data.enabled === true ? event.recordedAt : row.active_since,
    };
  },
});

/** Records how chains handled finished runs. */
export const chainAnswersProjection: Projection = {
  name: 'chain_answers',
  version: 1,
  handles: ['RunQueued', 'ChainSkipped'],
  tables: ['chain_answers'],
  apply: (db, events) => write(db, writesOf(events)),
  writes: writesOf,
};

const keepAnswers = `INSERT INTO chain_answers (chain_id, source_run_id, time, run_id, reason)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::uuid[], $5::text[])
  ON CONFLICT (chain_id, source_run_id) DO NOTHING`;

function writesOf(events: readonly Recorded[]): readonly Write[] {
  const answers = events.flatMap(answerOf);
  // Most runs have another trigger. The query is skipped for them.
  if (answers.length === 0) return [];
  const names = ['chain_id', 'source_run_id', 'time', 'run_id', 'reason'] as const;
  const values = names.map((name) => arrayLiteral(answers.map((one) => one[name])));
  return [{ text: keepAnswers, values }];
}

function answerOf(event: Recorded): readonly ChainAnswersTable[] {
  const time = event.recordedAt;
  if (event.type === 'ChainSkipped') {
    const { chainId, sourceRunId, reason } = event.data;
    return [{ chain_id: chainId, source_run_id: sourceRunId, time, run_id: null, reason }];
  }
  if (event.type !== 'RunQueued' || !isChained(event.data.trigger)) return [];
  const { chainId, runId: sourceRunId } = event.data.trigger;
  const { runId } = event.data;
  return [{ chain_id: chainId, source_run_id: sourceRunId, time, run_id: runId, reason: null }];
}
