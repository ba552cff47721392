import type { Aggregate } from '#domain/kernel/aggregate.ts';
import { accept, refuse, type Decision } from '#domain/kernel/decision.ts';
import { isSameJson } from '#domain/kernel/json.ts';
import type { DiscardRollback, NoteRelease, StartUpdate, UpdateCommand } from './commands.ts';
import type { UpdateEvent } from './events.ts';
import { evolveUpdate, initialUpdate, type UpdateState } from './state.ts';
import { compareVersions } from './update.ts';

export function decideUpdate(state: UpdateState, command: UpdateCommand): Decision<UpdateEvent> {
  if (command.type === 'NoteRelease') return note(state, command);
  if (command.type === 'StartUpdate') return start(state, command);
  if (command.type === 'DiscardRollback') return discard(state, command);
  const { updateId } = command;
  // A client repeated the same request, for example because the response was lost.
  if (state.ended.includes(updateId)) return accept();
  const { active } = state;
  if (active?.updateId !== updateId) return refuse('not_found', 'Update not found.');
  switch (command.type) {
    case 'FinishUpdateStep': {
      const { step, detail } = command;
      if (step === 'restart' || step !== active.step) return accept();
      return accept({ type: 'UpdateStepFinished', data: { updateId, step, detail } });
    }
    case 'SucceedUpdate':
      return accept({ type: 'UpdateSucceeded', data: { updateId } });
    case 'FailUpdate': {
      const { reason } = command;
      return accept({ type: 'UpdateFailed', data: { updateId, step: active.step, reason } });
    }
    case 'RollUpdateBack':
      return accept({ type: 'UpdateRolledBack', data: { updateId, reason: command.reason } });
  }
}

function note(
  { latest }: UpdateState,
  { type: _, ...release }: NoteRelease,
): Decision<UpdateEvent> {
  if (latest === null) return accept({ type: 'ReleaseFound', data: release });
  if (isSameJson(latest, release)) return accept();
  const order = compareVersions(release.version, latest.version);
  // The repository offers an older release than before. This may be a freeze or rollback attack.
  if (order < 0) {
    return refuse(
      'update_refused',
      `The repository offers ${release.version}, which is older than the previously offered ${latest.version}.`,
    );
  }
  if (order === 0 && release.sha256 !== latest.sha256) {
    return refuse(
      'update_refused',
      `The repository offers a different build of ${release.version} than before. A release must never ` +
        'change.',
    );
  }
  return accept({ type: 'ReleaseFound', data: release });
}

function start(
  { latest, active, ended }: UpdateState,
  { type: _, ...data }: StartUpdate,
): Decision<UpdateEvent> {
  const { updateId, kind, from, to } = data;
  if (active?.updateId === updateId || ended.includes(updateId)) return accept();
  if (active !== null) {
    return refuse('update_in_progress', `The update to ${active.to} is in progress.`);
  }
  if (kind === 'update') {
    if (latest?.version !== to) {
      return refuse('update_not_possible', `Version ${to} was not found in the repository.`);
    }
    if (compareVersions(to, from) <= 0) {
      return refuse('update_not_possible', `${to} is not newer than the current version, ${from}.`);
    }
    if (compareVersions(from, latest.minimumVersion) < 0) {
      const detail = `${to} requires at least ${latest.minimumVersion}. Update to ${latest.minimumVersion} first.`;
      return refuse('update_not_possible', detail);
    }
  }
  return accept({ type: 'UpdateStarted', data });
}

function discard(
  { active, ended, discarded }: UpdateState,
  { type: _, ...data }: DiscardRollback,
): Decision<UpdateEvent> {
  if (discarded.includes(data.updateId)) return accept();
  // An active rollback still needs the database copy.
  if (active !== null) {
    return refuse(
      'update_in_progress',
      `The switch to version ${active.to} is still in progress. Wait until it finishes.`,
    );
  }
  if (!ended.includes(data.updateId)) return refuse('not_found', 'Update not found.');
  return accept({ type: 'RollbackDiscarded', data });
}

export const updateAggregate: Aggregate<UpdateState, UpdateCommand, UpdateEvent> = {
  streamType: 'update',
  commands: {
    NoteRelease: true,
    StartUpdate: true,
    FinishUpdateStep: true,
    SucceedUpdate: true,
    FailUpdate: true,
    RollUpdateBack: true,
    DiscardRollback: true,
  },
  events: {
    ReleaseFound: true,
    UpdateStarted: true,
    UpdateStepFinished: true,
    UpdateSucceeded: true,
    UpdateFailed: true,
    UpdateRolledBack: true,
    RollbackDiscarded: true,
  },
  initial: initialUpdate,
  evolve: evolveUpdate,
  stateVersion: 2,
  decide: decideUpdate,
  streamOf: () => 'update-platform',
  guards: () => [],
  readFacts: () => Promise.resolve(undefined),
};
