import type { Aggregate, ChainLink, DecisionReads } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { pickChanges } from '#domain/kernel/pick-changes.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { closesCycle } from './chain.ts';
import type { ChainCommand, ChangeChain, CreateChain } from './commands.ts';
import type { ChainEvent } from './events.ts';
import { evolveChain, initialChain, type ChainState } from './state.ts';

export interface ChainDecisionFacts {
  /** Whether all scripts that the command refers to exist. */
  readonly scriptsExist: boolean;
  /** The links of all chains. */
  readonly links: readonly ChainLink[];
  /** Whether the chain has already handled the end of the source run. */
  readonly answered: boolean;
}

export function decideChain(
  state: ChainState,
  command: ChainCommand,
  facts: ChainDecisionFacts,
): Decision<ChainEvent> {
  if (command.type === 'CreateChain') return create(state, command, facts);
  if (command.type === 'DeleteChain' && state.status === 'deleted') return accept();
  if (state.status !== 'there') return refuse('not_found', 'Chain not found.');
  switch (command.type) {
    case 'ChangeChain':
      return change(state, command, facts);
    case 'DeleteChain':
      return accept({ type: 'ChainDeleted', data: { chainId: command.chainId } });
    case 'SkipChain': {
      const { type: _, ...data } = command;
      return facts.answered ? accept() : accept({ type: 'ChainSkipped', data });
    }
  }
}

function create(
  state: ChainState,
  command: CreateChain,
  { scriptsExist, links }: ChainDecisionFacts,
): Decision<ChainEvent> {
  if (state.status !== 'absent') return accept();
  if (!scriptsExist) return noScript;
  const { type: _, mayBeDeleted: __, ...data } = command;
  if (data.enabled && closesCycle(links, data.sourceScriptId, data.targetScriptId))
    return cycleProblem;
  return accept({ type: 'ChainCreated', data });
}

function change(
  { sourceScriptId, settings }: Extract<ChainState, { status: 'there' }>,
  { chainId, changes: wanted }: ChangeChain,
  { scriptsExist, links }: ChainDecisionFacts,
): Decision<ChainEvent> {
  if (!scriptsExist) return noScript;
  const changes = pickChanges(settings, wanted);
  if (Object.keys(changes).length === 0) return accept();
  const { enabled, targetScriptId } = { ...settings, ...changes };
  const others = links.filter((link) => link.chainId !== chainId);
  if (enabled && closesCycle(others, sourceScriptId, targetScriptId)) return cycleProblem;
  return accept({ type: 'ChainChanged', data: { chainId, ...changes } });
}

const noScript = refuse('not_found', 'Script not found.');
const cycleProblem = refuse(
  'validation_failed',
  'This chain would create a loop back to its source script.',
);

/** Every command that changes a link takes this guard. Otherwise, two concurrent changes could close a cycle
 *  together. */
const graph: StreamId = 'chains-graph';

export const chainAggregate: Aggregate<ChainState, ChainCommand, ChainEvent, ChainDecisionFacts> = {
  streamType: 'chain',
  commands: { CreateChain: true, ChangeChain: true, DeleteChain: true, SkipChain: true },
  events: { ChainCreated: true, ChainChanged: true, ChainDeleted: true, ChainSkipped: true },
  initial: initialChain,
  evolve: evolveChain,
  stateVersion: 1,
  decide: decideChain,
  streamOf: (command) => `chain-${command.chainId}`,
  guards: (command) => [
    ...(isAboutGraph(command) ? [graph] : []),
    ...scriptsOf(command).map((scriptId): StreamId => `script-${scriptId}`),
  ],
  exclusiveGuards: (command) => (isAboutGraph(command) ? [graph] : []),
  readFacts: async (command, reads) => ({
    scriptsExist: await allExist(command, reads),
    links: isAboutGraph(command) ? await reads.chainLinks() : [],
    answered:
      command.type === 'SkipChain' &&
      (await reads.chain(command.chainId, command.sourceRunId))?.answered === true,
  }),
};

function isAboutGraph({ type }: ChainCommand): boolean {
  return type === 'CreateChain' || type === 'ChangeChain';
}

/** Returns the IDs of the scripts that the command refers to. */
function scriptsOf(command: ChainCommand): readonly string[] {
  switch (command.type) {
    case 'CreateChain':
      return [...new Set([command.sourceScriptId, command.targetScriptId])];
    case 'ChangeChain':
      return command.changes.targetScriptId === undefined ? [] : [command.changes.targetScriptId];
    case 'DeleteChain':
    case 'SkipChain':
      return [];
  }
}

async function allExist(command: ChainCommand, reads: DecisionReads): Promise<boolean> {
  const scripts = await Promise.all(scriptsOf(command).map((id) => reads.script(id)));
  const mayBeDeleted = 'mayBeDeleted' in command && command.mayBeDeleted;
  return scripts.every((script) => script !== undefined && (mayBeDeleted || !script.deleted));
}
