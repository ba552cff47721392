/** Assigns new IDs to resources that a document restores, because the IDs of deleted resources are not reused. The new
 *  ID is derived from the old one, so that importing the document again finds the same resource. */
import { deriveTimeOrderedId } from '#domain/kernel/ids.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { knownStreams } from '#projections/configuration/queries.ts';
import type { Services } from '../services.ts';
import type { Document, Given, Kind, Section } from './kind.ts';

/** @param presentIds IDs of existing resources, by section */
export async function reassignDeletedIds(
  document: Document,
  kinds: readonly Kind[],
  presentIds: ReadonlyMap<Section, ReadonlySet<string>>,
  { readModels, ids }: Services,
): Promise<Document> {
  const renamed = new Map<string, string>();
  for (const { section, stream } of kinds) {
    const present = presentIds.get(section) ?? new Set();
    let asked = (document[section] ?? []).map(({ id }) => ({
      id: id.toLowerCase(),
      now: id.toLowerCase(),
    }));
    for (;;) {
      const absent = asked.filter(({ now }) => !present.has(now));
      const gone = await knownStreams(
        readModels,
        absent.map(({ now }) => `${stream}-${now}`),
      );
      asked = absent
        .filter(({ now }) => gone.has(`${stream}-${now}`))
        .map(({ id, now }) => ({ id, now: successor(now, ids) }));
      if (asked.length === 0) break;
      for (const { id, now } of asked) renamed.set(id, now);
    }
  }
  return rewritten(document, (id) => renamed.get(id.toLowerCase()) ?? id.toLowerCase());
}

/** Keeps the timestamp of the original ID, because lists are sorted by time. */
function successor(id: string, ids: Ids): string {
  const at = new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
  return deriveTimeOrderedId(ids.derived(id, 'configuration'), at);
}

type Rewrite<Name extends Section> = (
  item: Given<Name>,
  of: (id: string) => string,
) => Partial<Given<Name>>;

/** Replaces an item's references to other items. Every section has an entry, because its IDs are replaced. */
const references: { readonly [Name in Section]: Rewrite<Name> } = {
  groups: () => ({}),
  secret_stores: ({ group_ids }, of) =>
    group_ids === null ? {} : { group_ids: group_ids.map(of) },
  pools: () => ({}),
  scripts: ({ group_id }, of) => (group_id === undefined ? {} : { group_id: of(group_id) }),
  channels: ({ config }, of) =>
    'group_id' in config && typeof config.group_id === 'string'
      ? { config: { ...config, group_id: of(config.group_id) } }
      : {},
  rules: ({ script_ids, group_ids, channel_ids }, of) => ({
    channel_ids: channel_ids.map(of),
    ...(script_ids && { script_ids: script_ids.map(of) }),
    ...(group_ids && { group_ids: group_ids.map(of) }),
  }),
  calendars: () => ({}),
  schedules: ({ script_id, calendar_id }, of) => ({
    script_id: of(script_id),
    ...(calendar_id && { calendar_id: of(calendar_id) }),
  }),
  webhooks: ({ script_id }, of) => ({ script_id: of(script_id) }),
  chains: ({ source_script_id, target_script_id }, of) => ({
    source_script_id: of(source_script_id),
    target_script_id: of(target_script_id),
  }),
};

/** Replaces every ID in the document, including references. */
function rewritten(document: Document, of: (id: string) => string): Document {
  const sections = Object.keys(references) as readonly Section[];
  const each = <Name extends Section>(name: Name) => {
    const items = document[name] as readonly Given<Name>[] | undefined;
    const rewrite: Rewrite<Name> = references[name];
    return (
      items && { [name]: items.map((item) => ({ ...item, id: of(item.id), ...rewrite(item, of) })) }
    );
  };
  return Object.assign({}, document, ...sections.map((name) => each(name))) as Document;
}
