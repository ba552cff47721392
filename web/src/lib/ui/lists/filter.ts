/** List filters in the format of URLs and the API. A filter is a comma-separated list of values. A leading `!` excludes
 *  these values. */

export interface Filter {
  not: boolean;
  values: readonly string[];
}

export function parseFilter(text: string | undefined): Filter {
  const not = text?.startsWith('!') ?? false;
  const values = (not ? text?.slice(1) : text)?.split(',').filter(Boolean) ?? [];
  return { not, values };
}

/** Formats a filter. The text is empty if the filter has no values. */
export function filterText({ not, values }: Filter): string {
  return values.length === 0 ? '' : `${not ? '!' : ''}${values.join(',')}`;
}

/** Whether a filter matches a value. */
export function matchesFilter(text: string | undefined, value: string): boolean {
  const { not, values } = parseFilter(text);
  return values.length === 0 || values.includes(value) !== not;
}

/** Parses a list's filters from the query of its URL. Empty and unknown filters are ignored. */
export function readFilters<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const given = names.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value]] : [];
  });
  return Object.fromEntries(given) as Partial<Record<Name, string>>;
}

/** Returns the URL of a list with these filters. An empty value removes its filter. */
export function filtersHref(
  path: string,
  filters: Readonly<Record<string, string | number | undefined>>,
): string {
  const set = Object.entries(filters).flatMap(([name, value]) =>
    value ? [[name, String(value)]] : [],
  );
  const query = new URLSearchParams(set).toString();
  return query ? `?${query}` : path;
}
