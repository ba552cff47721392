import { readFilters } from '#lib/ui/lists/filter.ts';

/** The filters of the script list, as they appear in the URL. An absent filter matches all scripts. */
export interface ScriptFilter {
  q?: string;
  /** Group IDs, in the format of `parseFilter`. */
  group_id?: string;
  enabled?: 'true' | 'false';
  /** The status of the last run, in the format of `parseFilter`. */
  last_status?: string;
  tag?: string;
  sort?: 'name' | '-name' | 'updated';
  /** Limits the list to the user's favorites, which are stored in the browser. */
  favorites?: 'true';
}

const names = ['q', 'group_id', 'enabled', 'last_status', 'tag', 'sort', 'favorites'] as const;

/** Parses the filters in a URL. */
export function askedScripts(query: URLSearchParams): ScriptFilter {
  return readFilters(query, names) as ScriptFilter;
}
