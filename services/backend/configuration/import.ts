/** Imports a document: reads it, compares it, does a dry run, stores referenced content, and applies all commands in
 *  one transaction. */
import { createHash } from 'node:crypto';
import type { Command } from '#domain/aggregates.ts';
import { mustParse, parseCommandId, parseScriptId } from '#domain/kernel/ids.ts';
import type { CommandContext, CommandRequest } from '#domain/ports/commands.ts';
import type { Edit, EditCommand } from '#domain/script/commands.ts';
import { isEdit } from '#domain/script/decide.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { putPayload } from '#infra/postgres/event-store/payloads.ts';
import { credentialPlace } from '#infra/secret-stores/secret-stores.ts';
import { sealChannel } from '#services/shared/channel-secrets.ts';
import { editOf } from '../access/edit-script.ts';
import { refusalProblem } from '../http/outcome.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import { sealing } from '../http/sealing.ts';
import type { Services } from '../services.ts';
import type { Document, ItemKind, Keeping, ShownOnce } from './kind.ts';
import { planImport, within, type Step } from './plan.ts';

export interface Import {
  readonly document: Document;
  readonly dryRun: boolean;
  readonly prune: boolean;
  /** The origin of webhook URLs. */
  readonly origin: string;
  readonly context: CommandContext;
  /** Set if a repository provides the document. */
  readonly provider?: Provider;
}

/** A repository that provides resources. An import deletes provided resources that the repository no longer
 *  contains. */
export interface Provider {
  /** Whether the repository currently provides the resource. */
  readonly owns: (kind: ItemKind, id: string) => boolean;
  /** Selects the steps to execute. Skips steps that would revert local changes that the repository does not contain
   *  yet. */
  readonly select: (steps: readonly Step[]) => readonly Step[];
  /** Adapts the commands of a step to the repository. */
  readonly adapt: (step: Step, commands: readonly Command[]) => readonly Command[];
  /** Creates the last command of the transaction. */
  readonly conclude: (steps: readonly Step[]) => CommandRequest;
}

export interface Imported {
  readonly steps: readonly Step[];
  readonly shown: readonly ShownOnce[];
  /** The position of the last recorded event; `undefined` if none was recorded. */
  readonly position: number | undefined;
}

const sha256Of = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

/** Imports everything or nothing. A refused import changes nothing. */
export async function importConfiguration(
  wanted: Import,
  services: Services,
): Promise<Imported | Problem> {
  const planned = await planImport(wanted, services);
  if (isProblem(planned)) return planned;
  const steps = wanted.provider?.select(planned) ?? planned;
  const trial = await applySteps(steps, wanted, trying, services, true);
  if (isProblem(trial)) return trial;
  if (wanted.dryRun) return { steps, shown: [], position: undefined };
  const shown: ShownOnce[] = [];
  return await sealing('The secret', async () => {
    const keeping = keepingIn(services, shown, wanted.origin);
    const position = await applySteps(steps, wanted, keeping, services, false);
    return isProblem(position) ? position : { steps, shown, ...position };
  });
}

async function applySteps(
  steps: readonly Step[],
  { context, provider }: Import,
  keeping: Keeping,
  services: Services,
  tryOnly: boolean,
): Promise<{ readonly position: number | undefined } | Problem> {
  const { commands, ids } = services;
  const requests: (CommandRequest & { readonly step?: Step })[] = [];
  for (const step of steps) {
    const own = await step.commands(keeping);
    const adapted = provider?.adapt(step, own) ?? own;
    for (const command of joined(adapted, context, services)) {
      const commandId = mustParse(parseCommandId, ids.next());
      requests.push({ step, command, context: { ...context, commandId } });
    }
  }
  if (provider !== undefined) requests.push(provider.conclude(steps));
  if (requests.length === 0) return { position: undefined };
  const outcome = await commands.executeAll(requests, { tryOnly });
  if (outcome.kind === 'refused') {
    const step = requests[outcome.index]?.step;
    const { code, detail } = outcome.refusal;
    // Uses 422, because the problem concerns a resource in the document, not the requested URL.
    const refused =
      code === 'not_found' ? problem('validation_failed', detail) : refusalProblem(outcome.refusal);
    return step === undefined ? refused : within(step.pointer, refused);
  }
  const positions = outcome.outcomes.map((one) => one.position.globalPosition);
  return { position: Math.max(...positions) };
}

/** Combines all edits of a script into one command, so that a protected script needs only one approval. */
function joined(
  commands: readonly Command[],
  context: CommandContext,
  services: Services,
): readonly Command[] {
  const at = commands.findIndex(isEdit);
  const edits = commands.filter(isEdit);
  const [first] = edits;
  if (first === undefined) return commands;
  const edit = editOf(first.scriptId, edits.map(withoutTarget), undefined, context, services);
  const others = (part: readonly Command[]) => part.filter((one) => !isEdit(one));
  return [...others(commands.slice(0, at)), edit, ...others(commands.slice(at))];
}

function withoutTarget({ scriptId: _, ...edit }: EditCommand): Edit {
  return edit;
}

const trying: Keeping = {
  payload: (params) =>
    Promise.resolve(params === null ? null : sha256Of(Buffer.from(JSON.stringify(params)))),
  file: () => Promise.resolve(),
  channel: () => Promise.resolve(null),
  credential: () => Promise.resolve(null),
  signing: () => Promise.resolve(undefined),
  show: () => undefined,
};

function keepingIn(
  { database, objects, vault }: Services,
  shown: ShownOnce[],
  origin: string,
): Keeping {
  return {
    payload: async (params) =>
      params === null ? null : await putPayload(database, Buffer.from(JSON.stringify(params))),
    file: async (scriptId, sha256, content) =>
      await objects.put(objectKey.scriptBlob(mustParse(parseScriptId, scriptId), sha256), content),
    channel: async (channelId, secrets) => await sealChannel(vault, channelId, secrets),
    credential: async (storeId, credential) =>
      await vault.seal(credentialPlace(storeId), credential),
    signing: async (webhookId, version, secret) => {
      const place = { scriptId: webhookId, name: 'signing', version };
      return { version, sealed: await vault.seal(place, secret) };
    },
    show: (one) => {
      const { token } = one;
      shown.push(token === undefined ? one : { ...one, url: `${origin}/hooks/${token}` });
    },
  };
}
