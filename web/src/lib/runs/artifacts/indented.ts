type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
/** JSON with functions that keep the digits of numbers. Older browsers do not have `rawJSON`. */
const exactJson = JSON as typeof JSON & {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON?(source: string): unknown;
};

/** Indents JSON that is on a single line. Numbers keep their digits, even if JavaScript cannot represent them. */
export function indented(path: string, text: string): string {
  if (!path.endsWith('.json') || text.trim().includes('\n') || !exactJson.rawJSON) return text;
  const exact: Reviver = (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exactJson.rawJSON?.(source) : value;
  try {
    return JSON.stringify(exactJson.parse(text, exact), null, 2);
  } catch {
    return text;
  }
}
