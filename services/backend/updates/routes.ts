/** Checks for platform updates, installs them, and rolls them back. */
import { mustParse, parseUpdateId } from '#domain/kernel/ids.ts';
import { UpdateRefused } from '#domain/ports/updates.ts';
import type { StartUpdate } from '#domain/update/commands.ts';
import { compareVersions } from '#domain/update/update.ts';
import { countEventsAfter } from '#infra/postgres/event-store/event-store.ts';
import { bringsMigrations, type Installed, type KeptCopy } from '#services/shared/releases.ts';
import { version as current } from '#services/shared/version.ts';
import { operation, type Call, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { isProblem, notFound, problem, type Problem } from '../http/problem.ts';
import { json, type Answer } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { RollbackRequest, Update, UpdateHistory, UpdateRequest, Updates } from './schema.ts';
import { readUpdates, type UpdatesRead, type UpdateStory } from './update-history.ts';

const tag = 'System';
const path = '/api/v1/system/updates';
const access = { right: 'system.manage' } as const;
const shown = { 200: { description: 'The state of updates.', schema: Updates } };
const started = {
  description: 'The operation has started.',
  schema: Update,
  headers: ['Orch-Position'],
} as const;

const get = operation({
  method: 'get',
  path,
  operationId: 'getUpdates',
  summary: 'Read the current version, the newest release and the update in progress',
  tag,
  access,
  responses: shown,
  handle: async (_call, services) => await answer(services),
});

const check = operation({
  method: 'post',
  path: `${path}/check`,
  operationId: 'checkUpdates',
  summary: 'Check for a newer release',
  description:
    'Metadata from the update repository is rejected if the signature is invalid, the metadata ' +
    'has expired, or the release is older than a previously offered release.',
  tag,
  access,
  responses: shown,
  refusals: ['update_source_not_configured', 'update_refused', 'unavailable'],
  handle: async ({ context }, services) => {
    const { provider } = services.updates;
    if (provider === undefined) return notConfigured;
    try {
      const release = await provider.checkLatest();
      const outcome = accepted(
        await services.commands.execute({ type: 'NoteRelease', ...release }, context),
      );
      if (isProblem(outcome)) return outcome;
    } catch (error) {
      if (error instanceof UpdateRefused) {
        return problem('update_refused', `The repository cannot be trusted: ${error.message}.`);
      }
      services.logger.warn({ error }, 'update repository unavailable');
      const reason = error instanceof Error ? error.message : String(error);
      return problem('unavailable', `The repository is unavailable: ${reason}.`);
    }
    return await answer(services);
  },
});

const apply = operation({
  method: 'post',
  path: `${path}/apply`,
  operationId: 'applyUpdate',
  summary: 'Install the newest release',
  description:
    'Downloads and verifies the release, creates a backup and restarts with the new release. If the new ' +
    'release is unhealthy, the previous release is restored. Runs are stopped; always-on scripts start ' +
    'again afterwards. If an update is already in progress, that update is returned.',
  tag,
  access,
  body: { schema: UpdateRequest, example: { version: '0.1.14' } },
  responses: { 202: started },
  refusals: ['update_source_not_configured', 'update_in_progress', 'update_not_possible'],
  handle: async ({ body: { version: to }, context }, services) => {
    if (services.updates.provider === undefined) return notConfigured;
    const copy = services.updates.releases?.read('copy');
    if (copy !== undefined) {
      return problem(
        'update_not_possible',
        `A copy of the database of ${copy.of.version} is kept until ${copy.expiresAt} for a rollback. ` +
          'Discard the copy first.',
      );
    }
    return await start({ kind: 'update', to }, context, services);
  },
});

const rollback = operation({
  method: 'post',
  path: `${path}/rollback`,
  operationId: 'rollBackUpdate',
  summary: 'Roll back the last update',
  description:
    'If the update did not change the database schema, all events are kept. Otherwise, the ' +
    'database copy from before the update is restored, and later events are lost. `rollback_copy` ' +
    'contains the number of these events, and `discard_events` confirms the loss. The rollback is ' +
    'rejected if the copy was discarded or has expired.',
  tag,
  access,
  body: { schema: RollbackRequest, example: { discard_events: true }, optional: true },
  responses: { 202: started },
  refusals: ['update_in_progress', 'update_not_possible'],
  handle: async ({ body, context }, services) => {
    const previous = previousOf(services);
    if (isProblem(previous)) return previous;
    const { copy } = previous;
    if (copy !== undefined && body?.discard_events !== true) {
      const lost = await countEventsAfter(services.database, copy.madeAt);
      return problem(
        'update_not_possible',
        `A rollback to ${previous.version} discards ${lost} events recorded since ${copy.madeAt}. Confirm ` +
          'with "discard_events": true.',
      );
    }
    return await start({ kind: 'rollback', to: previous.version }, context, services);
  },
});

const discard = operation({
  method: 'post',
  path: `${path}/rollback/discard`,
  operationId: 'discardRollback',
  summary: 'Discard the database copy from before the last update',
  description:
    'Afterwards, the update can no longer be rolled back. The copy is also deleted when it ' +
    'expires. Has no effect if there is no copy.',
  tag,
  access,
  responses: shown,
  refusals: ['update_in_progress'],
  handle: async ({ context }, services) => {
    const copy = services.updates.releases?.read('copy');
    if (copy !== undefined) {
      const updateId = mustParse(parseUpdateId, copy.updateId);
      const command = { type: 'DiscardRollback', updateId, cause: 'requested' } as const;
      const outcome = accepted(await services.commands.execute(command, context));
      if (isProblem(outcome)) return outcome;
      services.updates.wake();
    }
    return await answer(services);
  },
});

const history = operation({
  method: 'get',
  path: `${path}/history`,
  operationId: 'listUpdates',
  summary: 'List past updates, newest first',
  tag,
  access,
  responses: { 200: { description: 'The complete list.', schema: UpdateHistory } },
  handle: async (_call, { database }) => {
    const { stories } = await readUpdates(database);
    return json(200, { items: stories.map(updateJson) });
  },
});

const notConfigured = problem(
  'update_source_not_configured',
  'Set ORCH_UPDATE_URL to a repository and ORCH_UPDATE_KEY to its public key.',
);

async function start(
  wanted: Pick<StartUpdate, 'kind' | 'to'>,
  context: Call['context'],
  { updates, commands, database, ids }: Services,
): Promise<Answer> {
  if (updates.releases === undefined) {
    return problem('update_not_possible', 'This edition is updated by deploying new images.');
  }
  const { active } = (await readUpdates(database)).state;
  // A request that repeats the active update gets that update, because clients retry requests that got no response.
  const isSame = active?.kind === wanted.kind && active.to === wanted.to;
  const updateId = isSame ? active.updateId : mustParse(parseUpdateId, ids.next());
  const command = { type: 'StartUpdate', updateId, from: current, ...wanted } as const;
  const outcome = accepted(await commands.execute(command, context));
  if (isProblem(outcome)) return outcome;
  updates.wake();
  const { stories } = await readUpdates(database);
  const story = stories.find((one) => one.updateId === updateId);
  return story === undefined ? notFound : json(202, updateJson(story), positionHeader(outcome));
}

interface Previous extends Installed {
  /** The database copy that the rollback restores. */
  readonly copy?: KeptCopy;
}

/** The previous release, if a rollback is possible. */
function previousOf({ updates }: Services): Previous | Problem {
  const active = updates.releases?.read('active');
  if (active?.version !== current) {
    return problem('update_not_possible', 'There is no previous release to roll back to.');
  }
  const { previous } = active;
  if (!bringsMigrations(active, previous)) return previous;
  const copy = updates.releases?.read('copy');
  if (copy?.of.version === previous.version) return { ...previous, copy };
  return problem(
    'update_not_possible',
    `${previous.version} does not support the database schema of ${current}, and the copy from before the ` +
      'update no longer exists. Restore the backup made before the update on an ' +
      `installation of ${previous.version}.`,
  );
}

async function answer(services: Services): Promise<Answer> {
  const read = await readUpdates(services.database);
  const found = services.updates.releases?.read('copy');
  // Hides a discarded copy, which is about to be removed.
  const copy = read.state.discarded.some((id) => id === found?.updateId) ? undefined : found;
  return json(200, {
    ...updatesJson(read, services),
    rollback_copy: copy === undefined ? null : await copyJson(copy, services),
  });
}

async function copyJson(
  { of, madeAt, expiresAt, sizeBytes }: KeptCopy,
  { database }: Services,
): Promise<object> {
  return {
    version: of.version,
    made_at: madeAt,
    expires_at: expiresAt,
    size_bytes: sizeBytes,
    lost_events: await countEventsAfter(database, madeAt),
  };
}

function updatesJson({ state, stories, foundAt }: UpdatesRead, services: Services) {
  const { latest } = state;
  const { updates } = services;
  const previous = previousOf(services);
  const running = stories.find((one) => one.status === 'running');
  return {
    current,
    source_configured: updates.provider !== undefined,
    installable: updates.releases !== undefined,
    latest: latest && {
      version: latest.version,
      notes: latest.notes,
      released_at: latest.releasedAt,
      expires_at: latest.expiresAt,
      minimum_version: latest.minimumVersion,
      size_bytes: latest.sizeBytes,
      found_at: foundAt,
    },
    update_available: latest !== null && compareVersions(latest.version, current) > 0,
    previous: isProblem(previous) ? null : previous.version,
    running: running === undefined ? null : updateJson(running),
  };
}

function updateJson(story: UpdateStory) {
  return {
    id: story.updateId,
    kind: story.kind,
    from: story.from,
    to: story.to,
    status: story.status,
    step: story.step,
    steps: story.steps.map(({ step, finishedAt }) => ({ step, finished_at: finishedAt })),
    reason: story.reason,
    started_by: story.startedBy,
    started_at: story.startedAt,
    finished_at: story.finishedAt,
  };
}

export const updateOperations: readonly Operation[] = [
  get,
  check,
  apply,
  rollback,
  discard,
  history,
];
