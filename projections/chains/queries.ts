import type { ChainFacts, ChainLink } from '#domain/kernel/aggregate.ts';
import {
  mustParse,
  parseChainId,
  parseScriptId,
  type ChainId,
  type GroupId,
  type RunId,
  type ScriptId,
} from '#domain/kernel/ids.ts';
import type { ChainAfter } from '#domain/reactions/reaction.ts';
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';
import type { ChainAnswersTable, ChainsTable } from './table.ts';

/** A chain with the data to display it. Both of its scripts exist. */
export type ChainView = ChainsTable & {
  readonly source_script_name: string;
  readonly source_group_id: string;
  readonly target_script_name: string;
  readonly target_group_id: string;
};

const view = `SELECT c.*, s.name AS source_script_name, s.group_id AS source_group_id,
    t.name AS target_script_name, t.group_id AS target_group_id
  FROM chains c JOIN scripts s ON s.script_id = c.source_script_id AND NOT s.deleted
    JOIN scripts t ON t.script_id = c.target_script_id AND NOT t.deleted
  WHERE NOT c.deleted`;

/** Returns a chain, or `undefined` if it does not exist. */
export async function findChain(db: ReadModels, chainId: ChainId): Promise<ChainView | undefined> {
  const [chain] = await oneChain(db, chainId);
  return chain;
}

const oneChain = statement<ChainView>(`${view} AND c.chain_id = $1`);

/** The groups of both scripts of a chain. Also available for deleted chains. */
export interface ChainOwners {
  readonly id: string;
  /** The source script of the chain. */
  readonly script_id: string;
  readonly group_ids: readonly string[];
}

export async function findChainOwners(
  db: ReadModels,
  chainIds: readonly string[],
): Promise<readonly ChainOwners[]> {
  return await ownersOf(db, chainIds);
}

const ownersOf = statement<ChainOwners>(`
  SELECT c.chain_id AS id, s.script_id, ARRAY[s.group_id, t.group_id]::text[] AS group_ids
  FROM chains c JOIN scripts s ON s.script_id = c.source_script_id
    JOIN scripts t ON t.script_id = c.target_script_id WHERE c.chain_id = ANY($1::uuid[])`);

export interface ChainListFilter {
  /** Returns only chains whose scripts are both in these groups. `null` means all groups. */
  readonly groupIds: readonly GroupId[] | null;
  readonly sourceScriptId: ScriptId | null;
  readonly targetScriptId: ScriptId | null;
}

/** Lists chains, newest first, starting after `after`. Returns at most `limit` chains. */
export async function listChains(
  db: ReadModels,
  { groupIds, sourceScriptId, targetScriptId }: ChainListFilter,
  after: ChainId | undefined,
  limit: number,
): Promise<readonly ChainView[]> {
  return await manyChains(db, groupIds, sourceScriptId, targetScriptId, after ?? null, limit);
}

const manyChains = statement<ChainView>(`${view}
  AND ($1::uuid[] IS NULL OR s.group_id = ANY($1) AND t.group_id = ANY($1))
  AND ($2::uuid IS NULL OR c.source_script_id = $2)
  AND ($3::uuid IS NULL OR c.target_script_id = $3)
  AND ($4::uuid IS NULL OR c.chain_id < $4)
  ORDER BY c.chain_id DESC LIMIT $5`);

/** Returns the enabled chains of a source script, if both scripts of the chain exist. */
export async function chainsAfter(
  db: ReadModels,
  scriptId: ScriptId,
): Promise<readonly ChainAfter[]> {
  return (await chainsOf(db, scriptId)).map((row) => ({
    chainId: mustParse(parseChainId, row.chain_id),
    targetScriptId: mustParse(parseScriptId, row.target_script_id),
    on: row.condition,
    enabled: row.enabled,
    whenBusy: row.when_busy,
    paramsSha256: row.params_sha256,
    activeSince: row.active_since,
  }));
}

const chainsOf = statement<ChainView>(
  `${view} AND c.enabled AND c.source_script_id = $1 ORDER BY c.chain_id`,
);

/** Lists how a chain handled finished runs, newest run first. */
export async function listChainAnswers(
  db: ReadModels,
  chainId: ChainId,
  after: RunId | undefined,
  limit: number,
): Promise<readonly ChainAnswersTable[]> {
  return await answersOf(db, chainId, after ?? null, limit);
}

const answersOf = statement<ChainAnswersTable>(`SELECT * FROM chain_answers
  WHERE chain_id = $1 AND ($2::uuid IS NULL OR source_run_id < $2)
  ORDER BY source_run_id DESC LIMIT $3`);

/** Returns the chains that handled the end of a run.
 *  @param groupIds the groups that the caller may see. `null` means all groups. */
export async function answersToRun(
  db: ReadModels,
  runId: RunId,
  groupIds: readonly GroupId[] | null,
): Promise<readonly ChainAnswersTable[]> {
  return await answersFrom(db, runId, groupIds);
}

const answersFrom = statement<ChainAnswersTable>(`SELECT a.* FROM chain_answers a
    JOIN chains c USING (chain_id) JOIN scripts t ON t.script_id = c.target_script_id
  WHERE a.source_run_id = $1 AND ($2::uuid[] IS NULL OR t.group_id = ANY($2))
  ORDER BY a.chain_id`);

/** Selects the links of all chains. */
export const chainLinks = statement<ChainLink>(`SELECT chain_id AS "chainId",
    source_script_id AS "sourceScriptId", target_script_id AS "targetScriptId", enabled
  FROM chains WHERE NOT deleted`);

/** Returns facts about a chain and about one finished run of its source script. */
export async function chainFacts(
  db: ReadModels,
  chainId: string,
  sourceRunId: string,
): Promise<ChainFacts | undefined> {
  const [facts] = await factsOf(db, chainId, sourceRunId);
  return facts;
}

const factsOf = statement<ChainFacts>(`SELECT enabled AND NOT deleted AS enabled,
    EXISTS (SELECT FROM chain_answers a
      WHERE a.chain_id = c.chain_id AND a.source_run_id = $2) AS answered
  FROM chains c WHERE chain_id = $1`);
