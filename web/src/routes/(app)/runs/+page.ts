import type { RunFilter } from '#lib/api/runs.ts';
import { asFilter, type AskedRuns } from '#lib/run-query.ts';
import type { PageLoad } from './$types';

const names = ['status', 'trigger_type', 'group_id', 'q', 'since'] as const;

/** The filter is the address, so that it can be shared and survives a reload. */
export const load: PageLoad = ({ url }): { asked: AskedRuns; filter: RunFilter } => {
  const given = names.flatMap((name) => {
    const value = url.searchParams.get(name);
    return value ? [[name, value]] : [];
  });
  const asked = Object.fromEntries(given) as AskedRuns;
  return { asked, filter: asFilter(asked, Date.now()) };
};
