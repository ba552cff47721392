/** The API description for generated requests, with examples that refer to existing resources. */
import { formsOf } from '../../http/operation.ts';
import { examples } from '../../http/schema.ts';
import { apiDescription, operations } from '../../operations.ts';
import { addressOf, scriptIn, type Place } from '../named-things.ts';
import { channel } from '../people.ts';
import type { TestBackend } from '../test-backend.ts';

interface Described {
  readonly parameters?: { readonly name: string; readonly in: string; example?: unknown }[];
}

/** Creates separate resources for each operation, so that deleting a resource does not affect other operations.
 *  @param place the group of the resources, and the owner of sessions and tokens
 *  @returns the description as JSON */
export async function describeThings(platform: TestBackend, place: Place): Promise<string> {
  const inBodies = [
    [examples.scriptId, await scriptIn(platform, place.groupId)],
    [examples.otherScriptId, await scriptIn(platform, place.groupId)],
    [examples.channelId, await channel(platform.admin)],
  ] as const;
  const text = inBodies.reduce((all, [one, made]) => all.replaceAll(one, made), apiDescription());
  const description = JSON.parse(text) as {
    paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const forms = operations.flatMap((one) => formsOf(one).map((form) => ({ one, ...form })));
  for (const form of forms) {
    const address = (await addressOf(platform, form, place)).split('/');
    const names = form.path.split('/');
    for (const parameter of description.paths[form.path]?.[form.method]?.parameters ?? []) {
      const index = names.indexOf(`{${parameter.name}}`);
      if (parameter.in === 'path' && index !== -1) parameter.example = address[index];
    }
  }
  return JSON.stringify(description);
}
