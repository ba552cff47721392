/** The self-check of a release on trial. Creates a script, executes one run of the script, and then purges the
 *  script. The previous release evaluates the result (`services/minimal/releases/observation.ts`). */
import { createHash } from 'node:crypto';
import type { Command } from '#domain/aggregates.ts';
import { mustParse, parseGroupId, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import {
  countOtherRuns,
  findSelfCheckRun,
  isUnfinishedRun,
  newestGroupId,
  scriptExists,
} from '#infra/postgres/operations/self-check-runs.ts';
import type { SelfCheck, Switch } from '#services/shared/releases.ts';
import { toAsyncIterable } from '../http/wire/spool.ts';

export interface SelfCheckDeps {
  readonly commands: Commands;
  readonly database: Queryable;
  readonly ids: Ids;
  readonly objects: Pick<ObjectStore, 'putStream'>;
}

/** Requests the run if necessary. IDs are derived from the update, so that a second call finds the first run.
 *  @returns the progress of the run; `undefined` while the run is not in the read model
 *  @throws Error if a command is refused */
export async function checkRuns(
  { updateId, challenge = '' }: Pick<Switch, 'updateId' | 'challenge'>,
  deps: SelfCheckDeps,
): Promise<SelfCheck | undefined> {
  const { scriptId, runId } = idsOf(updateId, deps.ids);
  const { database } = deps;
  if (!(await scriptExists(database, scriptId))) await makeScript(updateId, challenge, deps);
  const trigger = { type: 'manual' } as const;
  const about = { trigger, paramsSha256: null, timeoutSeconds: null };
  await execute({ type: 'RunScript', runId, scriptId, ...about }, updateId, deps);
  const run = await findSelfCheckRun(database, runId);
  if (run === undefined) return undefined;
  const others = await countOtherRuns(database, { updateId, runId, since: run.queued_at });
  const answer = JSON.parse(run.output ?? 'null') as unknown;
  return {
    updateId,
    status: run.status,
    answer: typeof answer === 'string' ? answer : null,
    failure: run.failure_reason,
    others,
  };
}

/** Purges the script if it exists. Idempotent.
 *  @throws Error if a command is refused */
export async function removeCheck(updateId: string, deps: SelfCheckDeps): Promise<void> {
  const { scriptId, runId } = idsOf(updateId, deps.ids);
  if (!(await scriptExists(deps.database, scriptId))) return;
  if (await isUnfinishedRun(deps.database, runId)) {
    await execute({ type: 'StopRun', runId }, updateId, deps);
  }
  await execute({ type: 'DeleteScript', scriptId }, updateId, deps);
  await execute({ type: 'PurgeScript', scriptId }, updateId, deps);
}

async function makeScript(updateId: string, challenge: string, deps: SelfCheckDeps): Promise<void> {
  const { scriptId } = idsOf(updateId, deps.ids);
  const content = Buffer.from(
    `import hashlib
from orchestrator import Platform

challenge = ${JSON.stringify(challenge)}
Platform().output(hashlib.sha256(challenge.encode()).hexdigest())
`,
  );
  const sha256 = createHash('sha256').update(content).digest('hex');
  const command: Command = {
    type: 'CreateScript',
    scriptId,
    name: 'Self-check of an update',
    description: 'Created by an update to check the platform, then purged.',
    groupId: mustParse(parseGroupId, (await newestGroupId(deps.database)) ?? ''),
    settings: { ...defaultSettings, startMode: 'cold' },
    files: [{ path: defaultSettings.entrypoint, sha256, sizeBytes: content.length }],
  };
  await deps.objects.putStream(objectKey.scriptBlob(scriptId, sha256), toAsyncIterable(content));
  await execute(command, updateId, deps);
}

function idsOf(updateId: string, ids: Ids) {
  return {
    scriptId: mustParse(parseScriptId, ids.derived(updateId, 'self-check script')),
    runId: mustParse(parseRunId, ids.derived(updateId, 'self-check run')),
  };
}

async function execute(
  command: Command,
  updateId: string,
  { commands, ids }: SelfCheckDeps,
): Promise<void> {
  const outcome = await commands.execute(command, {
    ...systemContext(
      'updater',
      ids.derived(updateId, `self-check ${command.type}`),
      ids.derived(updateId, 'self-check'),
    ),
    fingerprint: command.type,
  });
  if (outcome.kind === 'refused')
    throw new Error(`The self-check's ${command.type} was rejected: ${outcome.refusal.detail}`);
}
