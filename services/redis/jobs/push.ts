/** LPUSH, which creates runs from jobs. */
import { createHash } from 'node:crypto';
import { mustParse, parseCommandId, parseScriptId } from '#domain/kernel/ids.ts';
import { canonicalJson } from '#domain/kernel/json.ts';
import type { CommandContext } from '#domain/ports/commands.ts';
import { busyChoices } from '#domain/run/run.ts';
import type { ReadModels } from '#projections/projection.ts';
import { findRunnableScripts, type RunnableScript } from '#projections/scripts/queries.ts';
import { objection, type Objection } from '#services/shared/faults.ts';
import { requestRun, type RunRequestDeps } from '#services/shared/run-requests.ts';
import Type, { type Static } from 'typebox';
import { isIn, type Caller } from '../callers.ts';
import { messageReader, notFound } from '../messages.ts';
import type { Code } from '../refusals.ts';
import type { Session } from '../session.ts';

const Pushed = Type.Object(
  {
    script_id: Type.String({ maxLength: 36 }),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
    when_busy: Type.Optional(Type.Enum([...busyChoices])),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 604_800 })),
    /** Pushing the same job again with the same key creates no second run. */
    idempotency_key: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  },
  { additionalProperties: false },
);

const read = messageReader(Pushed, 'The job');

export interface PushDeps extends RunRequestDeps {
  readonly reads: ReadModels;
}

/** The reason why a job was refused. */
export interface Refused {
  readonly code: Code;
  readonly detail: string;
  /** The stream ID of the script that the job names, or null. */
  readonly resource: string | null;
}

/** A valid job whose script the caller can see. */
export interface Job {
  readonly given: Static<typeof Pushed>;
  readonly script: RunnableScript;
}

/** Parses jobs and looks up their scripts, without recording anything. @returns the results in the order of `texts` */
export async function readJobs(
  texts: readonly Buffer[],
  caller: Caller,
  { reads }: PushDeps,
): Promise<readonly (Job | Objection)[]> {
  const messages = texts.map((text) => read(text));
  const ids = messages.flatMap((one) =>
    'value' in one ? (parseScriptId(one.value.script_id) ?? []) : [],
  );
  const scripts = await findRunnableScripts(reads, [...new Set(ids)]);
  return messages.map((one) => {
    if (!('value' in one)) return one;
    const id = parseScriptId(one.value.script_id);
    const script = id && scripts.get(id);
    return script && isIn(caller, script.group_id) ? { given: one.value, script } : notFound;
  });
}

/** Queues the run of a job. @returns the reason if the run was refused */
export async function pushJob(
  { given, script }: Job,
  caller: Caller,
  session: Session,
  deps: PushDeps,
): Promise<Refused | undefined> {
  const asked = await requestRun(
    {
      script,
      params: given.params,
      trigger: { type: 'queue' },
      timeoutSeconds: given.timeout_seconds ?? null,
      whenBusy: given.when_busy ?? 'refuse',
      context: contextOf({ given, script }, caller, session, deps),
    },
    deps,
  );
  const resource = `script-${script.script_id}`;
  switch (asked.kind) {
    case 'accepted':
      return undefined;
    case 'refused':
      return { ...asked.refusal, resource };
    case 'problem':
      return { code: asked.code, detail: asked.detail, resource };
    case 'mismatched':
      return { ...keyReused, resource };
  }
}

const keyReused = objection(
  'validation_failed',
  'The idempotency key was already used for a different job.',
);

function contextOf(
  { given, script }: Job,
  { key, actor }: Caller,
  { ip }: Session,
  { ids }: PushDeps,
): CommandContext {
  const { idempotency_key: ownKey, ...job } = given;
  const commandId = mustParse(
    parseCommandId,
    ownKey === undefined ? ids.next() : ids.derived(script.script_id, `${key} ${ownKey}`),
  );
  const context = { commandId, actor, ip, correlationId: commandId, causationId: null };
  if (ownKey === undefined) return context;
  const fingerprint = createHash('sha256').update(canonicalJson(job)).digest('hex');
  return { ...context, fingerprint };
}
