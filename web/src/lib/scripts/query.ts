import { readFilters } from '#lib/ui/lists/filter.ts';

/** The filter of the list of scripts, as in its URL; absent means all. */
export interface ScriptFilter {
  q?: string;
  /** In the format of `parseFilter`. */
  group_id?: string;
  enabled?: 'true' | 'false';
  /** The status of the last run, in the format of `parseFilter`. */
  last_status?: string;
  tag?: string;
  sort?: 'name' | '-name' | 'updated';
  /** Only favorites, which the browser stores. */
  favorites?: 'true';
}

const names = ['q', 'group_id', 'enabled', 'last_status', 'tag', 'sort', 'favorites'] as const;

/** The filter in a URL. */
export function askedScripts(query: URLSearchParams): ScriptFilter {
  return readFilters(query, names) as ScriptFilter;
}
