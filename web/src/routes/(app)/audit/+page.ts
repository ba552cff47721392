import type { AuditFilter } from '#lib/api/types.ts';
import { requireRight } from '#lib/session/require-right.ts';
import { readFilters } from '#lib/ui/lists/filter.ts';
import type { PageLoad } from './$types';

const names = ['actor', 'action', 'q', 'resource', 'outcome', 'from', 'to', 'position'] as const;

/** The filter is part of the URL, so that it can be shared and survives a reload. */
export const load: PageLoad = async ({
  url,
  parent,
}): Promise<{ filter: AuditFilter; actors: string }> => {
  await requireRight(parent, 'audit.read');
  const filter = readFilters(url.searchParams, names) as AuditFilter;
  // Without a filter for actor, resource or position, the many entries about runs would hide the actions of users.
  const isBroad = !filter.actor && !filter.resource && !filter.position;
  const actors = url.searchParams.get('actors') ?? '';
  const people = isBroad && actors !== 'all';
  return { filter: { ...filter, ...(people && { people }) }, actors };
};
