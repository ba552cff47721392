/** Reads updates by folding their own stream, which is short and rarely read. */
import type { Recorded } from '#domain/aggregates.ts';
import type { UpdateId } from '#domain/kernel/ids.ts';
import type { UpdateEvent } from '#domain/update/events.ts';
import { evolveUpdate, firstStep, initialUpdate, type UpdateState } from '#domain/update/state.ts';
import type { UpdateKind, UpdateStep } from '#domain/update/update.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { readStream } from '#infra/postgres/event-store/event-store.ts';
import { actorName } from '#projections/actors.ts';

/** One update, from start to end. */
export interface UpdateStory {
  readonly updateId: UpdateId;
  readonly kind: UpdateKind;
  readonly from: string;
  readonly to: string;
  readonly status: 'running' | 'succeeded' | 'failed' | 'rolled_back';
  /** The step in progress, or the last step of a finished update. */
  readonly step: UpdateStep;
  readonly reason: string | null;
  readonly startedBy: string;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly steps: readonly { readonly step: UpdateStep; readonly finishedAt: Date }[];
}

export interface UpdatesRead {
  readonly state: UpdateState;
  /** The updates, newest first. */
  readonly stories: readonly UpdateStory[];
  /** When the latest release was found. */
  readonly foundAt: Date | null;
}

type RecordedUpdate = Recorded<UpdateEvent>;

export async function readUpdates(db: Queryable): Promise<UpdatesRead> {
  const events = (await readStream(
    db,
    'update-platform',
    1,
  )) as unknown as readonly RecordedUpdate[];
  const stories = new Map<UpdateId, UpdateStory>();
  for (const event of events) tell(stories, event);
  const found = events.findLast(({ type }) => type === 'ReleaseFound');
  return {
    state: events.reduce<UpdateState>(evolveUpdate, initialUpdate),
    stories: [...stories.values()].toReversed(),
    foundAt: found?.recordedAt ?? null,
  };
}

function tell(stories: Map<UpdateId, UpdateStory>, event: RecordedUpdate): void {
  if (event.type === 'ReleaseFound' || event.type === 'RollbackDiscarded') return;
  const { recordedAt } = event;
  const { updateId } = event.data;
  if (event.type === 'UpdateStarted') {
    const { kind, from, to } = event.data;
    const startedBy = actorName(event.metadata.actor);
    stories.set(updateId, {
      updateId,
      kind,
      from,
      to,
      status: 'running',
      step: firstStep(kind),
      reason: null,
      startedBy,
      startedAt: recordedAt,
      finishedAt: null,
      steps: [],
    });
    return;
  }
  const story = stories.get(updateId);
  if (story !== undefined) stories.set(updateId, { ...story, ...whatChanged(story, event) });
}

function whatChanged(
  story: UpdateStory,
  event: Exclude<RecordedUpdate, { type: 'ReleaseFound' | 'UpdateStarted' | 'RollbackDiscarded' }>,
): Partial<UpdateStory> {
  const finishedAt = event.recordedAt;
  switch (event.type) {
    case 'UpdateStepFinished': {
      const { step } = event.data;
      const state = { ...initialUpdate, active: { ...story } };
      return {
        step: evolveUpdate(state, event).active?.step ?? step,
        steps: [...story.steps, { step, finishedAt }],
      };
    }
    case 'UpdateSucceeded':
      return { status: 'succeeded', finishedAt };
    case 'UpdateFailed':
      return { status: 'failed', reason: event.data.reason, finishedAt };
    case 'UpdateRolledBack':
      return { status: 'rolled_back', reason: event.data.reason, finishedAt };
  }
}
