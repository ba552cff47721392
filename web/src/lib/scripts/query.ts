import { readFilters } from '#lib/ui/lists/filter.ts';

/** What the list of scripts is narrowed to, as its address has it; absent means all. */
export interface ScriptFilter {
  q?: string;
  /** As `parseFilter` reads it. */
  group_id?: string;
  enabled?: 'true' | 'false';
  /** How the last run ended, as `parseFilter` reads it. */
  last_status?: string;
  tag?: string;
  sort?: 'name';
}

const names = ['q', 'group_id', 'enabled', 'last_status', 'tag', 'sort'] as const;

/** What an address asks for. */
export function askedScripts(query: URLSearchParams): ScriptFilter {
  return readFilters(query, names) as ScriptFilter;
}
