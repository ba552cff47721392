import { askedScripts, type ScriptFilter } from '#lib/scripts/query.ts';
import type { PageLoad } from './$types';

/** The filter is part of the URL, so that it can be shared and survives a reload. */
export const load: PageLoad = ({ url }): { filter: ScriptFilter } => ({
  filter: askedScripts(url.searchParams),
});
