/** Creates the examples of a new installation: a script from each template, and a run of one of them. Each command is
 *  executed once, so that creating the examples is idempotent. The script IDs are fixed and sort before all other IDs.
 *  Lists start with the newest items and therefore show the example scripts last. */
import type { Command } from '#domain/aggregates.ts';
import { seededGroups } from '#domain/group/seed.ts';
import { deriveTimeOrderedId, mustParse, parseRunId, parseScriptId } from '#domain/kernel/ids.ts';
import { objectKey } from '#domain/ports/object-keys.ts';
import { defaultSettings } from '#domain/script/settings.ts';
import { toAsyncIterable } from '../http/wire/spool.ts';
import { startingFiles } from '../scripts/create-script.ts';
import type { Services } from '../services.ts';
import { templateTexts, type TemplateId } from '../templates/templates.ts';

interface Example {
  readonly scriptId: string;
  readonly template: TemplateId;
  /** The name of the script's group. */
  readonly group: (typeof seededGroups)[number]['name'];
}

const examples: readonly Example[] = [
  {
    scriptId: '01900000-0000-7000-8000-0000000000e1',
    template: 'http-monitor',
    group: 'monitoring',
  },
  { scriptId: '01900000-0000-7000-8000-0000000000e2', template: 'chat-bot', group: 'bots' },
  { scriptId: '01900000-0000-7000-8000-0000000000e3', template: 'etl-job', group: 'ETL' },
];
const shownRun = { id: '01900000-0000-7000-8000-0000000000f1', template: 'etl-job' } as const;

/** Creates the examples.
 *  @param executeOnce executes a command once for a given cause
 *  @throws if a command is refused, or the files cannot be stored */
export async function makeExamples(
  { objects, clock }: Pick<Services, 'objects' | 'clock'>,
  executeOnce: (command: Command, cause: string) => Promise<void>,
): Promise<void> {
  for (const { scriptId: id, template, group } of examples) {
    const scriptId = mustParse(parseScriptId, id);
    const { files, contents } = await startingFiles(template, defaultSettings.entrypoint);
    for (const [sha256, content] of contents) {
      await objects.putStream(objectKey.scriptBlob(scriptId, sha256), toAsyncIterable(content));
    }
    const { groupId } = seededGroups.find(({ name }) => name === group) ?? seededGroups[0];
    const about = { ...templateTexts[template], groupId, settings: defaultSettings, files };
    await executeOnce({ type: 'CreateScript', scriptId, ...about }, `example ${template}`);
    if (template !== shownRun.template) continue;
    // Charts and time filters use the timestamp in the ID of a run.
    const runId = mustParse(parseRunId, deriveTimeOrderedId(shownRun.id, clock.now()));
    const trigger = { type: 'manual' } as const;
    const asked = { scriptId, trigger, paramsSha256: null, timeoutSeconds: null };
    await executeOnce({ type: 'RunScript', runId, ...asked }, `run of example ${template}`);
  }
}
