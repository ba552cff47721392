/** What a list is narrowed to, as the address and the API write it: words separated by commas, or, behind
 *  `!`, none of them. */

export interface Filter {
  not: boolean;
  values: readonly string[];
}

export function parseFilter(text: string | undefined): Filter {
  const not = text?.startsWith('!') ?? false;
  const values = (not ? text?.slice(1) : text)?.split(',').filter(Boolean) ?? [];
  return { not, values };
}

/** The same as text; empty where everything is meant. */
export function filterText({ not, values }: Filter): string {
  return values.length === 0 ? '' : `${not ? '!' : ''}${values.join(',')}`;
}

/** Whether the list of such a choice has what has this value. */
export function matchesFilter(text: string | undefined, value: string): boolean {
  const { not, values } = parseFilter(text);
  return values.length === 0 || values.includes(value) !== not;
}
