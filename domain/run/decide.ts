// Long because it decides every command of a run, in a few lines each.
import type {
  Aggregate,
  ChainFacts,
  ScheduleFacts,
  ScriptFacts,
  DecisionReads,
} from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { mustParse, parseGroupId } from '#domain/kernel/ids.ts';
import { poolLock } from '#domain/pool/pool.ts';
import { defaultLimits, type RunLimits } from '#domain/script/settings.ts';
import { needsApproval } from './approval.ts';
import type {
  AbandonRun,
  ApproveRun,
  FinishRun,
  ReleaseRun,
  RunCommand,
  RunPlan,
  RunScript,
  StartRun,
  StopRun,
} from './commands.ts';
import { approve, expire, reject, withdrawal } from './decide-approval.ts';
import type { RunEvent, RunQueued } from './events.ts';
import { isChained, noTotals, type Trigger } from './run.ts';
import { evolveRun, initialRun, type RunState } from './state.ts';

/** The script of a requested, approved or released run. `undefined` for all other commands. */
export type RunDecisionFacts =
  | (ScriptFacts & {
      /** The schedule that requested the run, if any. */
      readonly schedule?: ScheduleFacts | undefined;
      /** Whether a run was already started for the due time of a backfill. */
      readonly dueTimeHasRun?: boolean;
      /** The name of a full pool that the released run needs, if any. */
      readonly fullPool?: string | undefined;
      readonly chain?: ChainFacts | undefined;
      /** Whether a user other than the caller could approve the run. */
      readonly otherApprover?: boolean;
    })
  | undefined;

export function decideRun(
  state: RunState,
  command: RunCommand,
  script: RunDecisionFacts,
): Decision<RunEvent> {
  switch (command.type) {
    case 'RunScript':
      return queue(state, command, script);
    case 'ReleaseRun':
      return release(state, command, script);
    case 'ApproveRun':
      return approveRun(state, command, script);
    case 'RejectRun':
      return reject(state, command);
    case 'ExpireApproval':
      return expire(state, command);
    case 'StartRun':
      return start(state, command);
    case 'StopRun':
      return stop(state, command);
    case 'FinishRun':
      return finish(state, command);
    case 'AbandonRun':
      return abandon(state, command);
  }
}

function queue(state: RunState, command: RunScript, script: RunDecisionFacts): Decision<RunEvent> {
  if (state.status !== 'absent') return accept();
  if (isOver(command, script)) return dueTimeOver;
  if (isAnswered(command, script)) return endAnswered;
  const unusable = withdrawn(script);
  if (script === undefined || unusable !== undefined) return unusable ?? noScript;
  if (command.unlessOverlapping && script.schedule?.active) return overlapping;
  const isPending = script.protectedRun && needsApproval(command.trigger);
  const { approval } = command;
  if (isPending && approval === undefined) return notRequestable;
  // A run with a pending approval may always wait, because other runs may occupy all slots when it is approved.
  const mayWait = isPending || command.whenBusy === 'queue';
  if (!mayWait && !hasSlot(script, script.waitingRuns)) return limitReached(script);
  // Waiting runs that were requested earlier take precedence.
  const isBusy = mayWait && (!hasSlot(script) || script.waitingRuns > 0);
  const isHeld =
    isPending ||
    isBusy ||
    command.notBefore !== undefined ||
    followsActive(command, script) ||
    // A run that uses pools must wait for its release, which locks the pools and counts their slots. The command that
    // requests a run does not list the pools and therefore cannot lock them.
    script.pools.length > 0;
  const plan = command.plan ?? planOf(script);
  const { notBefore } = command;
  const identity = {
    runId: command.runId,
    scriptId: command.scriptId,
    scriptName: script.name,
    groupId: mustParse(parseGroupId, script.groupId),
    scriptVersion: plan.scriptVersion,
  };
  const queued: RunQueued = {
    type: 'RunQueued',
    data: {
      ...identity,
      ...plan,
      ...placementOf(script),
      limits:
        command.timeoutSeconds === null
          ? plan.limits
          : { ...plan.limits, wall_clock_seconds: command.timeoutSeconds },
      trigger: command.trigger,
      paramsSha256: command.paramsSha256,
      attempt: command.attempt ?? 1,
      parentRunId: command.parentRunId ?? null,
      ...(isHeld && { waiting: true }),
      ...(notBefore !== undefined && { notBefore }),
    },
  };
  return isPending && approval !== undefined
    ? accept<RunEvent>(queued, { type: 'RunApprovalRequested', data: { ...identity, ...approval } })
    : accept(queued);
}

/** Returns the settings and files for a run of the script's current version. */
function planOf(script: ScriptFacts): RunPlan {
  const limits: RunLimits = { ...defaultLimits, ...script.limits };
  const { environment, python, startMode, listenPorts, resolution, source } = script;
  return {
    scriptVersion: script.version,
    entrypoint: script.entrypoint,
    limits,
    ...(Object.keys(environment).length > 0 && { environment }),
    ...(python !== null && { python }),
    ...(startMode !== 'warm' && { startMode }),
    ...(listenPorts.length > 0 && { listenPorts }),
    ...(resolution !== null && { resolution }),
    ...(source !== null && { commit: { hash: source.commit, url: source.url } }),
  };
}

/** Returns the labels and pools from the script's current settings, even for a run that repeats an earlier version. */
function placementOf({ runsOn, pools }: ScriptFacts): Pick<RunQueued['data'], 'runsOn' | 'pools'> {
  return { ...(runsOn.length > 0 && { runsOn }), ...(pools.length > 0 && { pools }) };
}

/** Whether the due time is already settled, or the schedule is disabled or deleted. A backfill may request a settled
 *  due time for which no run was started. The schedule may then be disabled. */
function isOver({ trigger }: RunScript, script: RunDecisionFacts): boolean {
  if (trigger.type !== 'schedule' || script === undefined) return false;
  const { schedule } = script;
  if (trigger.outcome === 'backfilled') {
    return (
      schedule === undefined ||
      script.dueTimeHasRun === true ||
      trigger.dueAt > schedule.servedUntil
    );
  }
  return schedule === undefined || !schedule.enabled || trigger.dueAt <= schedule.servedUntil;
}

/** Whether the chain has already handled the upstream run, or is disabled or deleted. */
function isAnswered({ trigger }: RunScript, script: RunDecisionFacts): boolean {
  if (!isChained(trigger) || script === undefined) return false;
  const { chain } = script;
  return chain === undefined || !chain.enabled || chain.answered;
}

/** Whether the run must wait for the previous run of its schedule. Due times are settled in order. If no earlier run
 *  is active now, none will become active later. */
function followsActive(
  { trigger }: RunScript,
  { schedule }: NonNullable<RunDecisionFacts>,
): boolean {
  return trigger.type === 'schedule' && trigger.afterPrevious === true && schedule?.active === true;
}

const endAnswered = refuse(
  'already_exists',
  'The chain has already handled this run, or is disabled.',
);
const dueTimeOver = refuse('already_exists', 'This due time has already been handled.');
const overlapping = refuse('run_overlaps', "The schedule's previous run is still active.");
const notRequestable = refuse(
  'forbidden',
  'Runs of this script require approval, which this caller cannot request.',
);
const noScript = refuse('not_found', 'Script not found.');

function withdrawn(script: RunDecisionFacts): Decision<never> | undefined {
  if (script === undefined || script.deleted) return noScript;
  return script.enabled ? undefined : refuse('script_disabled', 'The script is disabled.');
}

/** @param taken the number of free slots that are reserved for other runs */
function hasSlot(script: ScriptFacts, taken = 0): boolean {
  return script.activeRuns + taken < script.maxConcurrentRuns;
}

function limitReached(script: ScriptFacts): Decision<never> {
  return refuse(
    'concurrency_limit_reached',
    hasSlot(script)
      ? 'Other runs are already waiting for the free slots.'
      : `${script.activeRuns} of ${script.maxConcurrentRuns} concurrent runs are already queued or running.`,
  );
}

function release(
  state: RunState,
  { runId, scriptId }: ReleaseRun,
  script: RunDecisionFacts,
): Decision<RunEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Run not found.');
  if (state.status !== 'queued' || !state.waiting) return accept();
  if (state.approval?.status === 'pending') {
    return refuse('approval_pending', 'The run is waiting for approval.');
  }
  const unusable = withdrawn(script);
  if (script === undefined || unusable !== undefined) return unusable ?? noScript;
  if (!hasSlot(script)) return limitReached(script);
  return script.fullPool === undefined
    ? accept({ type: 'RunReleased', data: { runId, scriptId } })
    : refuse('pool_full', `The pool "${script.fullPool}" has no free slot.`);
}

/** Approves a run, unless its script is disabled or deleted. */
function approveRun(
  state: RunState,
  command: ApproveRun,
  script: RunDecisionFacts,
): Decision<RunEvent> {
  const decision = approve(state, command, script?.otherApprover ?? true);
  const isNew = decision.kind === 'accepted' && decision.events.length > 0;
  return (isNew ? withdrawn(script) : undefined) ?? decision;
}

function start(state: RunState, command: StartRun): Decision<RunEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Run not found.');
  if (state.status !== 'queued')
    return refuse('run_fenced', 'The run has already started or ended.');
  if (state.waiting) return refuse('run_fenced', 'The run is still waiting to be released.');
  const { runId, runtimeId, layers } = command;
  return accept({
    type: 'RunStarted',
    data: { runId, scriptId: state.scriptId, runtimeId, layers, ...timingOf(command) },
  });
}

function stop(state: RunState, command: StopRun): Decision<RunEvent> {
  const { runId } = command;
  switch (state.status) {
    case 'absent':
      return refuse('not_found', 'Run not found.');
    case 'finished':
      return refuse('run_not_active', 'The run has already ended.');
    case 'queued':
      return accept(...withdrawal(state, command), {
        type: 'RunFinished',
        data: {
          runId,
          scriptId: state.scriptId,
          outcome: 'stopped',
          exitCode: null,
          signal: null,
          totals: noTotals,
        },
      });
    case 'running':
      return state.stopRequested
        ? accept()
        : accept({ type: 'RunStopRequested', data: { runId, scriptId: state.scriptId } });
  }
}

function finish(state: RunState, command: FinishRun): Decision<RunEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Run not found.');
  if (state.status === 'finished') return accept();
  if (state.status === 'queued' || state.fence !== command.fence) {
    return refuse('run_fenced', 'Another runtime holds the lease on this run.');
  }
  const { runId, outcome, exitCode, signal, totals } = command;
  return accept({
    type: 'RunFinished',
    data: {
      runId,
      scriptId: state.scriptId,
      outcome,
      exitCode,
      signal,
      totals,
      ...errorOf(command),
      ...timingOf(command),
    },
  });
}

function abandon(state: RunState, command: AbandonRun): Decision<RunEvent> {
  if (state.status === 'absent') return refuse('not_found', 'Run not found.');
  if (state.status === 'finished') return accept();
  if (state.status === 'running')
    return refuse('run_fenced', 'The run has started in the meantime.');
  return accept(...withdrawal(state, command), {
    type: 'RunFinished',
    data: {
      runId: command.runId,
      scriptId: state.scriptId,
      outcome: command.failure,
      exitCode: null,
      signal: null,
      totals: command.totals,
      ...errorOf(command),
      ...timingOf(command),
    },
  });
}

function errorOf({ error }: Pick<FinishRun, 'error'>): Pick<FinishRun, 'error'> {
  return error === undefined ? {} : { error };
}

function timingOf({ timing }: Pick<StartRun, 'timing'>): Pick<StartRun, 'timing'> {
  return timing === undefined ? {} : { timing };
}

export const runAggregate: Aggregate<RunState, RunCommand, RunEvent, RunDecisionFacts> = {
  streamType: 'run',
  commands: {
    RunScript: true,
    ReleaseRun: true,
    ApproveRun: true,
    RejectRun: true,
    ExpireApproval: true,
    StartRun: true,
    StopRun: true,
    FinishRun: true,
    AbandonRun: true,
  },
  events: {
    RunQueued: true,
    RunApprovalRequested: true,
    RunApproved: true,
    RunRejected: true,
    RunApprovalExpired: true,
    RunApprovalWithdrawn: true,
    RunReleased: true,
    RunStarted: true,
    RunStopRequested: true,
    RunFinished: true,
  },
  initial: initialRun,
  evolve: evolveRun,
  stateVersion: 2,
  decide: decideRun,
  streamOf: (command) => `run-${command.runId}`,
  guards: (command) => {
    if (command.type === 'ReleaseRun') {
      return [`script-${command.scriptId}`, ...poolLocksOf(command)];
    }
    if (command.type === 'ApproveRun') return [`script-${command.scriptId}`];
    if (command.type !== 'RunScript') return [];
    const { trigger, scriptId } = command;
    if (trigger.type === 'schedule')
      return [`script-${scriptId}`, `schedule-${trigger.scheduleId}`];
    if (isChained(trigger)) return [`script-${scriptId}`, `chain-${trigger.chainId}`];
    return [`script-${scriptId}`];
  },
  // Without exclusive guards, commands in the same batch would not see each other's events. Two backfills could then
  // start two runs for one due time, and two releases could overfill a pool.
  exclusiveGuards: (command) => {
    if (command.type === 'ReleaseRun') return poolLocksOf(command);
    return command.type === 'RunScript' && isBackfill(command.trigger)
      ? [`schedule-${command.trigger.scheduleId}`]
      : [];
  },
  readFacts: async (command, reads) => {
    if (command.type === 'ReleaseRun') return await factsOfRelease(command, reads);
    if (command.type === 'ApproveRun') return await factsOfApproval(command, reads);
    return command.type === 'RunScript' ? await factsOfRequest(command, reads) : undefined;
  },
};

function isBackfill(trigger: Trigger): trigger is Extract<Trigger, { type: 'schedule' }> {
  return trigger.type === 'schedule' && trigger.outcome === 'backfilled';
}

function poolLocksOf({ pools = [] }: ReleaseRun) {
  return pools.map(poolLock);
}

async function factsOfRelease(
  { scriptId, pools = [] }: ReleaseRun,
  reads: DecisionReads,
): Promise<RunDecisionFacts> {
  const script = await reads.script(scriptId);
  if (script === undefined) return undefined;
  for (const name of pools) {
    const pool = await reads.pool(name);
    // A deleted pool imposes no limit.
    if (pool !== undefined && pool.active >= pool.limit) return { ...script, fullPool: name };
  }
  return script;
}

async function factsOfApproval(
  { scriptId, approver }: ApproveRun,
  reads: DecisionReads,
): Promise<RunDecisionFacts> {
  const script = await reads.script(scriptId);
  if (script === undefined) return undefined;
  const otherApprover = await reads.otherApprover(approver.userId, script.groupId, 'run');
  return { ...script, otherApprover };
}

async function factsOfRequest(
  { scriptId, trigger }: RunScript,
  reads: DecisionReads,
): Promise<RunDecisionFacts> {
  const script = await reads.script(scriptId);
  if (script === undefined) return undefined;
  if (trigger.type === 'schedule') {
    const { scheduleId, dueAt } = trigger;
    const schedule = await reads.schedule(scheduleId);
    if (!isBackfill(trigger)) return { ...script, schedule };
    return { ...script, schedule, dueTimeHasRun: await reads.dueTimeHasRun(scheduleId, dueAt) };
  }
  if (!isChained(trigger)) return script;
  return { ...script, chain: await reads.chain(trigger.chainId, trigger.runId) };
}
