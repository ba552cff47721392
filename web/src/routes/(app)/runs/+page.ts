import type { RunFilter } from '#lib/api/runs.ts';
import type { PageLoad } from './$types';

const names = ['status', 'trigger_type', 'group_id', 'q'] as const;

/** The filter is the address, so that it can be shared and survives a reload. */
export const load: PageLoad = ({ url }) => {
  const given = names.flatMap((name) => {
    const value = url.searchParams.get(name);
    return value ? [[name, value]] : [];
  });
  return { filter: Object.fromEntries(given) as RunFilter };
};
