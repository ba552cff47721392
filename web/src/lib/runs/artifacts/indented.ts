type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const { parse, stringify, rawJSON } = JSON as typeof JSON & {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON?(source: string): unknown;
};

/** Indents JSON that is on a single line. Numbers keep their digits, even if JavaScript cannot represent them. */
export function indented(path: string, text: string): string {
  if (!path.endsWith('.json') || text.trim().includes('\n') || rawJSON === undefined) return text;
  const exact: Reviver = (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? rawJSON(source) : value;
  try {
    return stringify(parse(text, exact), null, 2);
  } catch {
    return text;
  }
}
