/** Filters of lists, as the URL and the API write them. One filter is a list of values separated by commas;
 *  a leading `!` excludes these values. */

export interface Filter {
  not: boolean;
  values: readonly string[];
}

export function parseFilter(text: string | undefined): Filter {
  const not = text?.startsWith('!') ?? false;
  const values = (not ? text?.slice(1) : text)?.split(',').filter(Boolean) ?? [];
  return { not, values };
}

/** Returns the filter as text, which is empty if nothing is excluded. */
export function filterText({ not, values }: Filter): string {
  return values.length === 0 ? '' : `${not ? '!' : ''}${values.join(',')}`;
}

/** Tells whether a filtered list contains items with this value. */
export function matchesFilter(text: string | undefined, value: string): boolean {
  const { not, values } = parseFilter(text);
  return values.length === 0 || values.includes(value) !== not;
}

/** Reads a list's filters from the query of its URL. Ignores empty and unknown filters. */
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
